#include "mpi/pairing.hpp"

#include <algorithm>
#include <map>

namespace weft {

std::vector<std::vector<RankPair>> all_pair_rounds(int ranks) {
  // One place stands still, the others turn around it; an odd number of ranks gets an empty place more.
  const int places = ranks + ranks % 2;
  const int turning = places - 1;
  std::vector<std::vector<RankPair>> rounds;
  for (int turn = 0; ranks > 1 && turn < turning; ++turn) {
    std::vector<RankPair> round;
    for (int i = 0; i < places / 2; ++i) {
      const int a = i == 0 ? turning : (turn + i) % turning;
      const int b = (turn - i + turning) % turning;
      if (a < ranks && b < ranks) round.push_back(std::minmax(a, b));
    }
    std::sort(round.begin(), round.end());
    rounds.push_back(std::move(round));
  }
  return rounds;
}

std::vector<std::vector<RankPair>> pair_rounds(const std::vector<RankPair>& pairs, int ranks) {
  const auto all = all_pair_rounds(ranks);
  std::map<RankPair, std::size_t> round_of;
  for (std::size_t round = 0; round < all.size(); ++round)
    for (const RankPair& pair : all[round])
      round_of[pair] = round;
  std::vector<std::vector<RankPair>> rounds(2 * all.size());
  for (const RankPair& pair : pairs) {
    const std::size_t pass = pair.first < pair.second ? 0 : all.size();
    rounds[pass + round_of.at(std::minmax(pair.first, pair.second))].push_back(pair);
  }
  rounds.erase(std::remove_if(rounds.begin(), rounds.end(), [](const auto& round) { return round.empty(); }),
               rounds.end());
  return rounds;
}

std::vector<std::vector<RankPair>> sequential_rounds(const std::vector<RankPair>& pairs) {
  std::vector<std::vector<RankPair>> rounds;
  for (const RankPair& pair : pairs)
    rounds.push_back({pair});
  return rounds;
}

}  // namespace weft
