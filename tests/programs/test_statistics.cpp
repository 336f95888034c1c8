#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

#include "check.hpp"
#include "core/statistics.hpp"

using weft::Interval;
using weft::median;
using weft::median_interval;
using weft::quantile;

namespace {

std::vector<double> counted_to(int n) {
  std::vector<double> values;
  for (int i = 1; i <= n; ++i)
    values.push_back(i);
  return values;
}

bool close(double left, double right, double tolerance) { return std::abs(left - right) <= tolerance; }

}  // namespace

TEST(quantiles_interpolate_between_order_statistics) {
  const std::vector<double> sorted{10, 20, 40};
  CHECK_EQ(quantile(sorted, 0), 10.0);
  CHECK_EQ(quantile(sorted, 0.25), 15.0);
  CHECK_EQ(quantile(sorted, 0.5), 20.0);
  CHECK_EQ(quantile(sorted, 0.75), 30.0);
  CHECK_EQ(quantile(sorted, 1), 40.0);
  CHECK_EQ(median({1, 2, 3, 10}), 2.5);
  CHECK_EQ(median({7}), 7.0);
}

TEST(statistics_refuse_what_they_are_not_defined_for) {
  CHECK_THROWS(quantile({}, 0.5), std::invalid_argument);
  CHECK_THROWS(quantile({1}, 1.5), std::invalid_argument);
  CHECK_THROWS(median_interval({}, 0.95), std::invalid_argument);
  CHECK_THROWS(median_interval({1, 2}, 1), std::invalid_argument);
}

// P(6 <= B(20, 1/2) <= 14) = 0.9586, P(7 <= B <= 13) = 0.8847: 95 % lies between ranks 6 and 7, at a part
// 0.117 of the probability and, after Hettmansperger & Sheather, 14 x 0.117 / (6 + 8 x 0.117) = 0.2363 of the
// way.
TEST(median_interval_of_twenty_is_that_of_the_binomial_interpolated) {
  const Interval interval = median_interval(counted_to(20), 0.95);
  CHECK(close(interval.low, 6.236, 2e-3));
  CHECK(close(interval.high, 14.764, 2e-3));
}

TEST(median_interval_at_the_exact_coverage_of_two_ranks_is_these_ranks) {
  const Interval interval = median_interval(counted_to(20), 0.958610534667969);
  CHECK(close(interval.low, 6, 1e-6));
  CHECK(close(interval.high, 15, 1e-6));
}

TEST(median_interval_of_few_samples_is_their_range) {
  const Interval interval = median_interval(counted_to(5), 0.95);
  CHECK_EQ(interval.low, 1.0);
  CHECK_EQ(interval.high, 5.0);
}

TEST(median_interval_of_little_confidence_still_holds_the_median) {
  for (int n = 1; n <= 30; ++n) {
    const auto sorted = counted_to(n);
    const Interval interval = median_interval(sorted, 0.01);
    CHECK(interval.low <= median(sorted));
    CHECK(interval.high >= median(sorted));
  }
}

TEST(median_interval_of_many_samples_follows_the_normal_limit) {
  const int n = 1'000'000;
  const Interval interval = median_interval(counted_to(n), 0.95);
  CHECK(close(interval.low, n / 2.0 - 1.96 * 500, 3));
  CHECK(close(interval.high, n / 2.0 + 1.96 * 500, 3));
}

TEST(median_interval_covers_as_often_as_it_says_at_any_fixed_size) {
  std::mt19937_64 random(7);
  std::exponential_distribution<double> exponential;
  constexpr int replications = 4000;
  for (const int n : {7, 12, 20, 45, 130}) {
    int held = 0;
    for (int i = 0; i < replications; ++i) {
      std::vector<double> samples(n);
      for (double& value : samples)
        value = exponential(random);
      std::sort(samples.begin(), samples.end());
      const Interval interval = median_interval(samples, 0.95);
      held += interval.low <= std::log(2.0) && std::log(2.0) <= interval.high ? 1 : 0;
    }
    const double coverage = static_cast<double>(held) / replications;
    CHECK(coverage > 0.93 && coverage < 0.97);
  }
}
