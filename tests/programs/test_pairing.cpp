// Rounds of pairs, exhaustively for 2 to 17 ranks.
#include <algorithm>
#include <map>
#include <set>

#include "check.hpp"
#include "mpi/pairing.hpp"

using namespace weft;

namespace {

std::vector<RankPair> ordered_pairs(int ranks) {
  std::vector<RankPair> pairs;
  for (int a = 0; a < ranks; ++a)
    for (int b = 0; b < ranks; ++b)
      if (a != b) pairs.emplace_back(a, b);
  return pairs;
}

bool conflict_free(const std::vector<RankPair>& round) {
  std::set<int> seen;
  for (const auto& [a, b] : round)
    if (!seen.insert(a).second || !seen.insert(b).second) return false;
  return true;
}

/// One node for all.
std::vector<int> together(int ranks) { return std::vector<int>(static_cast<std::size_t>(ranks), 0); }

/// A node each.
std::vector<int> apart(int ranks) {
  std::vector<int> nodes;
  for (int rank = 0; rank < ranks; ++rank)
    nodes.push_back(7 * rank);
  return nodes;
}

std::vector<RankPair> flatten(const std::vector<std::vector<RankPair>>& rounds) {
  std::vector<RankPair> pairs;
  for (const auto& round : rounds)
    pairs.insert(pairs.end(), round.begin(), round.end());
  return pairs;
}

std::vector<RankPair> sorted(std::vector<RankPair> pairs) {
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

}  // namespace

TEST(every_two_ranks_meet_once_in_the_fewest_rounds) {
  for (int ranks = 2; ranks <= 17; ++ranks) {
    const auto rounds = all_pair_rounds(ranks);
    CHECK_EQ(static_cast<int>(rounds.size()), ranks % 2 == 0 ? ranks - 1 : ranks);
    std::vector<RankPair> expected = ordered_pairs(ranks);
    expected.erase(
        std::remove_if(expected.begin(), expected.end(), [](auto p) { return p.first > p.second; }),
        expected.end());
    CHECK(sorted(flatten(rounds)) == expected);
    for (const auto& round : rounds) {
      CHECK(conflict_free(round));
      CHECK_EQ(static_cast<int>(round.size()), ranks / 2);
    }
  }
}

TEST(with_odd_ranks_each_is_idle_in_one_round) {
  for (int ranks = 3; ranks <= 17; ranks += 2) {
    std::map<int, int> rounds_of_rank;
    for (const auto& [a, b] : flatten(all_pair_rounds(ranks))) {
      ++rounds_of_rank[a];
      ++rounds_of_rank[b];
    }
    for (int rank = 0; rank < ranks; ++rank)
      CHECK_EQ(rounds_of_rank[rank], ranks - 1);
  }
}

TEST(one_rank_has_no_rounds) {
  CHECK(all_pair_rounds(1).empty());
  CHECK(all_pair_rounds(0).empty());
}

TEST(both_directions_make_two_passes) {
  for (int ranks = 2; ranks <= 17; ++ranks)
    for (const auto& nodes : {together(ranks), apart(ranks)}) {
      const auto pairs = ordered_pairs(ranks);
      const auto rounds = pair_rounds(pairs, nodes);
      CHECK_EQ(rounds.size(), 2 * all_pair_rounds(ranks).size());
      CHECK(sorted(flatten(rounds)) == pairs);
      for (const auto& round : rounds)
        CHECK(conflict_free(round));
    }
}

TEST(between_nodes_no_node_is_in_two_pairs_and_nothing_else_goes_on) {
  for (const std::vector<int>& nodes :
       std::vector<std::vector<int>>{{0, 0, 2, 2},
                                     {0, 1, 0, 1, 0, 1},
                                     {0, 0, 0, 3, 3, 5},
                                     {4, 4, 4, 4, 1, 1, 1, 1, 9, 9, 9, 9, 2, 2, 2, 2}}) {
    const auto pairs = ordered_pairs(static_cast<int>(nodes.size()));
    const auto rounds = pair_rounds(pairs, nodes);
    CHECK(sorted(flatten(rounds)) == pairs);
    for (const auto& round : rounds) {
      CHECK(conflict_free(round));
      std::vector<RankPair> between;
      for (const auto& [a, b] : round)
        if (nodes[a] != nodes[b]) between.emplace_back(nodes[a], nodes[b]);
      CHECK(between.empty() || between.size() == round.size());
      CHECK(conflict_free(between));
    }
  }
}

TEST(nodes_of_four_ranks_take_as_few_rounds_as_their_pairs_need) {
  const std::vector<int> nodes{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
  // Within: 3 rounds on all nodes at once; between: 3 rounds of nodes, 16 pairs of ranks each; both ways.
  CHECK_EQ(pair_rounds(ordered_pairs(16), nodes).size(), std::size_t{2 * (3 + 3 * 16)});
}

TEST(pairs_between_nodes_are_all_or_those_of_the_first_ranks) {
  const std::vector<int> nodes{0, 0, 2};
  CHECK(pairs_between_nodes(nodes, false) == (std::vector<RankPair>{{0, 2}, {1, 2}, {2, 0}, {2, 1}}));
  CHECK(pairs_between_nodes(nodes, true) == (std::vector<RankPair>{{0, 2}, {2, 0}}));
  CHECK(pairs_between_nodes(together(4), false).empty());
}

TEST(some_pairs_make_rounds_without_gaps) {
  const auto rounds = pair_rounds({{3, 1}, {0, 1}, {0, 2}}, together(5));
  CHECK(sorted(flatten(rounds)) == (std::vector<RankPair>{{0, 1}, {0, 2}, {3, 1}}));
  for (const auto& round : rounds) {
    CHECK(!round.empty());
    CHECK(conflict_free(round));
  }
}

TEST(a_sequence_keeps_its_order) {
  const auto rounds = sequential_rounds({{2, 0}, {0, 1}});
  CHECK_EQ(rounds.size(), std::size_t{2});
  CHECK(rounds[0] == (std::vector<RankPair>{{2, 0}}));
  CHECK(rounds[1] == (std::vector<RankPair>{{0, 1}}));
}
