// The sampler on a clock of its own: how long a batch takes is drawn from a distribution, so that every test
// is exact.
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "check.hpp"
#include "core/sampler.hpp"

using weft::sample;
using weft::SamplerOptions;
using weft::StoppedBy;
using weft::Team;
using weft::TimeSummary;

namespace {

/// A machine whose batches last what `operation_s` says, and whose clock stands still otherwise.
struct Machine {
  std::function<double()> operation_s;
  double overhead_s = 0;  ///< of a batch, outside its timed region
  double now_s = 0;
  std::size_t batches = 0, operations = 0;

  double run(std::size_t count) {
    const double batch_s = static_cast<double>(count) * operation_s();
    now_s += batch_s + overhead_s;
    ++batches;
    operations += count;
    return batch_s;
  }

  TimeSummary sampled(SamplerOptions options, std::size_t most_per_sample = 1 << 20) {
    Team alone;
    options.max_operations_per_sample = most_per_sample;
    return sample(options, [this](std::size_t count) { return run(count); }, alone, [this] { return now_s; });
  }
};

SamplerOptions patient(std::size_t min_samples = 20) {
  SamplerOptions options;
  options.min_samples = min_samples;
  options.budget_s = 1e12;
  return options;
}

/// How often the interval of an adaptive run holds the median of what it samples.
double coverage(const SamplerOptions& options, double true_median, const std::function<double()>& draw) {
  constexpr int replications = 4000;
  int held = 0;
  for (int i = 0; i < replications; ++i) {
    Machine machine{draw};
    const TimeSummary summary = machine.sampled(options, 1);
    held += summary.interval_s.low <= true_median && true_median <= summary.interval_s.high ? 1 : 0;
  }
  return static_cast<double>(held) / replications;
}

void check_coverage(const char* what, double covered) {
  if (covered < 0.93 || covered > 0.97)
    check::fail(__FILE__, __LINE__, std::string(what) + ": coverage " + std::to_string(covered));
}

}  // namespace

TEST(intervals_hold_the_median_as_often_as_they_say_for_lognormal_times) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  for (const std::size_t min_samples : {10, 20})
    for (const double sigma : {0.02, 0.05, 0.1, 0.2})
      check_coverage("lognormal",
                     coverage(patient(min_samples), 1, [&] { return std::exp(sigma * normal(random)); }));
}

TEST(intervals_hold_the_median_as_often_as_they_say_for_exponential_delays) {
  std::mt19937_64 random(12);
  std::exponential_distribution<double> exponential;
  for (const std::size_t min_samples : {10, 20})
    for (const double scale : {0.05, 0.1, 0.25})
      check_coverage("exponential delay", coverage(patient(min_samples), 1 + scale * std::log(2.0),
                                                   [&] { return 1 + scale * exponential(random); }));
}

TEST(intervals_hold_the_median_as_often_as_they_say_for_bimodal_times) {
  std::mt19937_64 random(13);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const auto draw = [&] { return (uniform(random) < 0.7 ? 1.0 : 1.3) + 0.02 * normal(random); };
  // The modes lie 15 standard deviations apart: the median is the 5/7-quantile of the lower one.
  check_coverage("bimodal", coverage(patient(), 1 + 0.02 * 0.565948821932, draw));
}

TEST(intervals_cut_short_by_the_sample_limit_cover_too) {
  std::mt19937_64 random(14);
  std::exponential_distribution<double> exponential;
  SamplerOptions options = patient();
  options.max_samples = 150;
  check_coverage("exponential", coverage(options, std::log(2.0), [&] { return exponential(random); }));
}

TEST(intervals_cut_short_by_the_budget_cover_too) {
  std::mt19937_64 random(15);
  std::normal_distribution<double> normal;
  SamplerOptions options = patient();
  options.budget_s = 70;
  check_coverage("lognormal", coverage(options, 1, [&] { return std::exp(0.5 * normal(random)); }));
}

TEST(a_precise_operation_stops_by_precision_after_the_minimum_looked_at_twice) {
  Machine machine{[] { return 1e-3; }};
  const TimeSummary summary = machine.sampled(patient());
  CHECK_EQ(summary.samples, 40u);
  CHECK(summary.stopped_by == StoppedBy::precision);
  CHECK(summary.converged);
  CHECK_EQ(summary.median_s, 1e-3);
  CHECK_EQ(summary.interval_s.low, 1e-3);
  CHECK_EQ(summary.interval_s.high, 1e-3);
  CHECK_EQ(summary.confidence, 0.95);
}

TEST(precision_reached_is_the_precision_asked_for) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (const double precision : {0.05, 0.01}) {
    Machine machine{[&] { return std::exp(0.3 * normal(random)); }};
    SamplerOptions options = patient();
    options.precision = precision;
    options.max_samples = 1 << 20;
    const TimeSummary summary = machine.sampled(options);
    CHECK(summary.stopped_by == StoppedBy::precision);
    CHECK(summary.interval_s.high - summary.interval_s.low <= 2 * precision * summary.median_s);
    CHECK(summary.samples > (precision == 0.05 ? 100u : 2500u));  // n = (1.96 x 1.253 x 0.3 / precision)^2
  }
}

TEST(the_sample_limit_ends_what_does_not_converge) {
  std::mt19937_64 random(2);
  std::exponential_distribution<double> exponential;
  Machine machine{[&] { return exponential(random); }};
  SamplerOptions options = patient();
  options.max_samples = 100;
  const TimeSummary summary = machine.sampled(options);
  CHECK_EQ(summary.samples, 100u);
  CHECK(summary.stopped_by == StoppedBy::sample_limit);
  CHECK(!summary.converged);
}

TEST(the_budget_ends_a_slow_operation_when_it_has_an_interval) {
  Machine machine{[] { return 1.0; }};
  SamplerOptions options;
  options.budget_s = 0.05;
  const TimeSummary summary = machine.sampled(options);
  CHECK(summary.stopped_by == StoppedBy::time_budget);
  CHECK_EQ(summary.samples, 6u);
  CHECK_EQ(machine.batches, 7u);  // one to calibrate
  CHECK_EQ(summary.warmup_samples, 0u);
  CHECK(summary.converged);
  CHECK_EQ(summary.confidence, 0.95);
}

TEST(the_budget_ends_a_slow_operation_after_fewer_samples_where_fewer_were_asked_for) {
  Machine machine{[] { return 1.0; }};
  SamplerOptions options;
  options.min_samples = 3;
  options.budget_s = 0.05;
  const TimeSummary summary = machine.sampled(options);
  CHECK_EQ(summary.samples, 3u);
  CHECK(!summary.converged);  // all alike, but three say little
  CHECK_EQ(summary.confidence, 0.75);
}

TEST(the_budget_counts_what_lies_outside_the_timed_regions) {
  Machine machine{[] { return 1e-6; }};
  machine.overhead_s = 1e-3;
  SamplerOptions options;
  options.precision = 1e-9;
  options.budget_s = 0.2;
  const TimeSummary summary = machine.sampled(options);
  CHECK(machine.now_s < 0.202);
  CHECK(summary.samples < 200u);
}

TEST(one_sample_is_taken_where_no_more_are_allowed_and_has_no_interval) {
  Machine machine{[] { return 1.0; }};
  SamplerOptions options = patient();
  options.min_samples = options.max_samples = 1;
  const TimeSummary summary = machine.sampled(options);
  CHECK_EQ(summary.samples, 1u);
  CHECK(summary.stopped_by == StoppedBy::sample_limit);
  const std::string json = summary.json(false).dump();
  CHECK(json.find("\"ci_low\":null,\"ci_high\":null,\"confidence\":null") != std::string::npos);
}

TEST(short_operations_are_batched_until_a_sample_is_long_enough) {
  Machine machine{[] { return 1e-7; }};
  const TimeSummary summary = machine.sampled(patient());
  CHECK_EQ(summary.operations_per_sample, 200u);
  CHECK_EQ(summary.operations_total, machine.operations);
  Machine limited{[] { return 1e-7; }};
  CHECK_EQ(limited.sampled(patient(), 50).operations_per_sample, 50u);
}

TEST(a_cold_first_operation_does_not_end_the_calibration) {
  bool first = true;
  Machine machine{[&] {
    const double operation_s = first ? 1.0 : 1e-6;
    first = false;
    return operation_s;
  }};
  CHECK_EQ(machine.sampled(patient()).operations_per_sample, 20u);
}

TEST(warm_up_lasts_until_the_operation_is_steady) {
  std::size_t taken = 0;
  Machine machine{[&] { return 1e-3 * (1 + 4 * std::exp(-static_cast<double>(taken++) / 20)); }};
  const TimeSummary summary = machine.sampled(patient());
  CHECK(summary.warmup_samples >= 60u);
  CHECK(std::abs(summary.median_s - 1e-3) < 0.1e-3);
  Machine steady{[] { return 1e-3; }};
  CHECK_EQ(steady.sampled(patient()).warmup_samples, 10u);
}

TEST(warm_up_leaves_most_of_the_budget) {
  double operation_s = 1e-3;
  Machine machine{[&] { return operation_s *= 0.97; }};  // never steady
  SamplerOptions options;
  options.budget_s = 0.05;
  options.precision = 1e-6;
  const TimeSummary summary = machine.sampled(options);
  CHECK(summary.warmup_samples > 0u);
  CHECK(summary.samples > summary.warmup_samples);
}

TEST(an_operation_that_takes_no_time_is_an_error) {
  Machine machine{[] { return 0.0; }};
  const std::string words = CHECK_THROWS(machine.sampled(patient()), std::runtime_error);
  CHECK_EQ(words, std::string("the operation is too short to be timed"));
}

TEST(the_leader_decides_when_the_budget_is_spent) {
  struct Follower : Team {
    double leader_s = 0;
    double leaders(double) override { return leader_s += 0.1; }
  };
  Follower follower;
  SamplerOptions options;
  options.precision = 1e-9;
  options.budget_s = 10;
  std::mt19937_64 random(3);
  std::exponential_distribution<double> exponential;
  const auto stands_still = [] { return 0.0; };
  const TimeSummary summary =
      sample(options, [&](std::size_t) { return exponential(random); }, follower, stands_still);
  CHECK(summary.stopped_by == StoppedBy::time_budget);
}

TEST(json_scales_times_and_keeps_samples_in_the_order_taken) {
  double next_s = 2;
  Machine machine{[&] { return next_s == 2 ? next_s = 1 : next_s = 2; }};
  SamplerOptions options = patient();
  options.max_samples = options.min_samples = 4;
  const TimeSummary summary = machine.sampled(options, 1);
  const std::string json = summary.json(true, 0.5).dump();
  CHECK(json.find("\"median\":0.75,") != std::string::npos);
  CHECK(json.find("\"samples\":4,\"operations_per_sample\":1,") != std::string::npos);
  CHECK(json.find("\"stopped_by\":\"sample_limit\"") != std::string::npos);
  CHECK(json.find("\"quantiles\":{\"min\":0.5,") != std::string::npos);
  CHECK(json.find("\"values\":[0.5,1,0.5,1]") != std::string::npos ||
        json.find("\"values\":[1,0.5,1,0.5]") != std::string::npos);
  CHECK(summary.json(false).dump().find("values") == std::string::npos);
}
