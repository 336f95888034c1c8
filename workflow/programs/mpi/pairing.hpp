// Rounds in which every two ranks meet once and nobody is in two pairs at a time.
#pragma once

#include <utility>
#include <vector>

namespace weft {

using RankPair = std::pair<int, int>;  ///< source and destination

/// All pairs of n ranks, smaller first: n-1 rounds, or n rounds with one rank idle in each where n is odd
/// (circle method, as in round-robin tournaments: Lucas, Récréations mathématiques II, 1883).
std::vector<std::vector<RankPair>> all_pair_rounds(int ranks);

/// The pairs given, each once, in rounds. A pair given in both directions is in two passes, so that links
/// carry one direction at a time. Pairs within nodes come first: as many at once, on all nodes, as have no
/// rank in common. Then pairs between nodes: as many at once as have no node in common, since the ranks of a
/// node share its adapters; nothing else goes on meanwhile. `node_of_rank`: any number for each node.
std::vector<std::vector<RankPair>> pair_rounds(const std::vector<RankPair>& pairs,
                                               const std::vector<int>& node_of_rank);

/// All ordered pairs whose ends lie on different nodes; or those of the first rank of each node alone.
std::vector<RankPair> pairs_between_nodes(const std::vector<int>& node_of_rank, bool one_rank_a_node);

/// Round after round with one pair each, in the order given.
std::vector<std::vector<RankPair>> sequential_rounds(const std::vector<RankPair>& pairs);

}  // namespace weft
