#include "mpi/pairing.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

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

namespace {

/// Where a pair is in the order of rounds: those with equal keys are at work at once. The parts are the pass
/// (direction), whether it is between nodes, the round of all_pair_rounds, and which of the pairs of two
/// nodes.
using RoundKey = std::array<std::size_t, 4>;

std::map<RankPair, std::size_t> round_of_each_pair(int places) {
  std::map<RankPair, std::size_t> round_of;
  const auto rounds = all_pair_rounds(places);
  for (std::size_t round = 0; round < rounds.size(); ++round)
    for (const RankPair& pair : rounds[round])
      round_of[pair] = round;
  return round_of;
}

}  // namespace

std::vector<std::vector<RankPair>> pair_rounds(const std::vector<RankPair>& pairs,
                                               const std::vector<int>& node_of_rank) {
  // Nodes and the ranks of each, both counted from 0.
  std::map<int, int> nodes, ranks_of_node;
  std::vector<int> local;
  for (const int node : node_of_rank) {
    nodes.emplace(node, static_cast<int>(nodes.size()));
    local.push_back(ranks_of_node[node]++);
  }
  int most_local = 0;
  for (const auto& [node, ranks] : ranks_of_node)
    most_local = std::max(most_local, ranks);
  const auto round_of_nodes = round_of_each_pair(static_cast<int>(nodes.size()));
  const auto round_of_locals = round_of_each_pair(most_local);

  std::map<RoundKey, std::vector<RankPair>> rounds;
  std::map<std::pair<std::size_t, RankPair>, std::size_t> met;  // pairs of two nodes so far, of a pass
  for (const RankPair& pair : pairs) {
    const std::size_t pass = pair.first < pair.second ? 0 : 1;
    const int one = nodes.at(node_of_rank[pair.first]), other = nodes.at(node_of_rank[pair.second]);
    if (one == other) {
      const RankPair ends = std::minmax(local[pair.first], local[pair.second]);
      rounds[{pass, 0, round_of_locals.at(ends), 0}].push_back(pair);
    } else {
      const RankPair ends = std::minmax(one, other);
      rounds[{pass, 1, round_of_nodes.at(ends), met[{pass, ends}]++}].push_back(pair);
    }
  }
  std::vector<std::vector<RankPair>> result;
  for (auto& [key, round] : rounds)
    result.push_back(std::move(round));
  return result;
}

std::vector<RankPair> pairs_between_nodes(const std::vector<int>& node_of_rank, bool one_rank_a_node) {
  const int ranks = static_cast<int>(node_of_rank.size());
  std::set<int> seen;
  std::vector<int> chosen;
  for (int rank = 0; rank < ranks; ++rank)
    if (seen.insert(node_of_rank[rank]).second || !one_rank_a_node) chosen.push_back(rank);
  std::vector<RankPair> pairs;
  for (const int source : chosen)
    for (const int destination : chosen)
      if (node_of_rank[source] != node_of_rank[destination]) pairs.emplace_back(source, destination);
  return pairs;
}

std::vector<std::vector<RankPair>> sequential_rounds(const std::vector<RankPair>& pairs) {
  std::vector<std::vector<RankPair>> rounds;
  for (const RankPair& pair : pairs)
    rounds.push_back({pair});
  return rounds;
}

}  // namespace weft
