// Rounds in which every two ranks meet once and nobody is in two pairs at a time.
#pragma once

#include <utility>
#include <vector>

namespace weft {

using RankPair = std::pair<int, int>;  ///< source and destination

/// All pairs of n ranks, smaller first: n-1 rounds, or n rounds with one rank idle in each where n is odd
/// (circle method, as in round-robin tournaments: Lucas, Récréations mathématiques II, 1883).
std::vector<std::vector<RankPair>> all_pair_rounds(int ranks);

/// The pairs given, each once, in as few rounds as the circle method makes of them: two pairs are in one
/// round when they are in one of all_pair_rounds. A pair given in both directions is in two passes, so that
/// links carry one direction at a time.
std::vector<std::vector<RankPair>> pair_rounds(const std::vector<RankPair>& pairs, int ranks);

/// Round after round with one pair each, in the order given.
std::vector<std::vector<RankPair>> sequential_rounds(const std::vector<RankPair>& pairs);

}  // namespace weft
