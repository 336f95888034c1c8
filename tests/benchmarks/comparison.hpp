// Two ways to do the same, timed in turn in one run: what one costs beside the other, pair by pair.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "core/statistics.hpp"

namespace weft {

/// Seconds of one operation in every round, done plainly and done by Weft.
struct Comparison {
  std::vector<double> plain_s, weft_s;

  /// Median of each, and median, 95 % interval and range of the ratios weft_s / plain_s of the rounds. A
  /// disturbance that lasts longer than a round touches both of a pair, so that the ratio hardly moves.
  Json json() const {
    std::vector<double> ratios(plain_s.size());
    for (std::size_t i = 0; i < ratios.size(); ++i)
      ratios[i] = weft_s[i] / plain_s[i];
    std::sort(ratios.begin(), ratios.end());
    const Interval interval = median_interval(ratios, 0.95);
    return Json::object({{"rounds", ratios.size()},
                         {"plain_s", median_of(plain_s)},
                         {"weft_s", median_of(weft_s)},
                         {"time_ratio", Json::object({{"median", median(ratios)},
                                                      {"ci_low", interval.low},
                                                      {"ci_high", interval.high},
                                                      {"min", ratios.front()},
                                                      {"max", ratios.back()}})}});
  }

 private:
  static double median_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return median(values);
  }
};

/// Calls plain and weft, which return the seconds of one operation, in turn, `rounds` times each. Who goes
/// first alternates, so that a drift of the machine favours neither.
template <class Plain, class Weft>
Comparison compare_in_turn(int rounds, Plain plain, Weft weft) {
  Comparison comparison;
  for (int round = 0; round < rounds; ++round) {
    if (round % 2 == 0) comparison.plain_s.push_back(plain());
    comparison.weft_s.push_back(weft());
    if (round % 2 == 1) comparison.plain_s.push_back(plain());
  }
  return comparison;
}

/// The numbers given on the command line, or else the default.
inline std::vector<std::size_t> numbers(int argc, char** argv, std::size_t fallback) {
  std::vector<std::size_t> values;
  for (int i = 1; i < argc; ++i)
    values.push_back(std::stoull(argv[i]));
  return values.empty() ? std::vector<std::size_t>{fallback} : values;
}

}  // namespace weft
