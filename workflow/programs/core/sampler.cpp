#include "core/sampler.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include "core/link_traffic.hpp"
#include "core/watchdog.hpp"

namespace weft {

namespace {

constexpr std::size_t warmup_window = 5;
constexpr double warmup_share_of_budget = 0.25;
// So many operations of a few bytes add up to what counters can tell.
constexpr double proof_s = 5e-3, longest_proof_s = 10e-3;
constexpr double proof_operations = 2500;
constexpr std::size_t least_samples = 3;
// Sampling that ends as soon as the interval looks narrow ends on lucky streaks, and its intervals hold the
// median less often than they claim. Looking seldom, and ending only when two looks in a row agree, restores
// the coverage to within a percent (tests/programs/test_sampler.cpp).
constexpr std::size_t schedule_ratio = 2;
constexpr int looks_to_agree = 2;
constexpr double rounding = 1e-6;  // of a number of operations

/// With which confidence the range of all samples holds the median: unless all lie on one side of it.
double attained_confidence(std::size_t samples) { return 1 - std::exp2(1 - static_cast<double>(samples)); }

/// So many samples are taken however long they last, unless fewer were asked for: the fewest whose range
/// holds the median with the confidence asked for.
std::size_t fewest_samples(const SamplerOptions& options) {
  std::size_t samples = least_samples;
  while (attained_confidence(samples) < options.confidence)
    ++samples;
  return std::min(samples, std::max(options.min_samples, least_samples));
}

double steady_clock_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Takes samples and knows what they cost: the part of sampling that is the same from calibration to the end.
class Sampling {
 public:
  Sampling(const SamplerOptions& options, const Batch& batch, Team& team,
           const std::function<double()>& clock_s)
      : options_(options), batch_(batch), team_(team), clock_s_(clock_s), start_s_(clock_s()) {}

  double take(std::size_t operations) {
    operations_total_ += operations;
    watchdog::beat();
    return batch_(operations);
  }

  /// Whether that share of the budget is spent; the leader's clock decides for all.
  bool spent(double share_of_budget = 1) {
    return team_.leaders(clock_s_() - start_s_) >= share_of_budget * options_.budget_s;
  }

  /// Doubles the operations of a sample until it lasts long enough, and takes back what is more than that. A
  /// sample that lasts is taken twice: the first of its kind may have paid for a cold start.
  std::size_t calibrate(std::size_t max_operations) {
    const Activity activity("calibration");
    std::size_t operations = 1;
    while (operations < max_operations) {
      double lasted_s = take(operations);
      if (lasted_s >= options_.min_sample_s && !spent(warmup_share_of_budget)) lasted_s = take(operations);
      if (lasted_s >= options_.min_sample_s) {
        const double enough = options_.min_sample_s / lasted_s * static_cast<double>(operations);
        return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(enough - rounding)));
      }
      if (spent()) break;
      operations = std::min(2 * operations, max_operations);
    }
    return operations;
  }

  std::size_t warm_up(std::size_t operations);
  StoppedBy measure(TimeSummary& summary);
  PathProof prove(double sample_s, std::size_t operations);

  std::size_t operations_total() const { return operations_total_; }

 private:
  const SamplerOptions& options_;
  const Batch& batch_;
  Team& team_;
  const std::function<double()>& clock_s_;
  double start_s_;
  std::size_t operations_total_ = 0;
};

/// Windows of five samples, until the median of one lies within the range of the one before, or closer to its
/// median than half the precision asked for. It is the criterion of Georges, Buytaert & Eeckhout (OOPSLA
/// 2007), variation within a window of iterations, made robust: a coefficient of variation never
/// settles where single samples are disturbed. At most a quarter of the budget is spent on it.
std::size_t Sampling::warm_up(std::size_t operations) {
  const Activity activity("warm-up");
  std::vector<double> before, window;
  before.reserve(warmup_window);
  window.reserve(warmup_window);
  std::size_t samples = 0;
  while (!spent(warmup_share_of_budget)) {
    window.push_back(take(operations));
    ++samples;
    if (window.size() < warmup_window) continue;
    std::sort(window.begin(), window.end());
    if (!before.empty()) {
      const double now_s = median(window), earlier_s = median(before);
      const bool within = now_s >= before.front() && now_s <= before.back();
      if (within || std::abs(now_s - earlier_s) <= options_.precision / 2 * earlier_s) break;
    }
    before.swap(window);
    window.clear();
  }
  return samples;
}

bool precise(const SamplerOptions& options, const std::vector<double>& samples_s) {
  std::vector<double> sorted = samples_s;
  std::sort(sorted.begin(), sorted.end());
  if (attained_confidence(sorted.size()) < options.confidence) return false;
  const Interval interval = median_interval(sorted, options.confidence);
  return interval.high - interval.low <= 2 * options.precision * median(sorted);
}

StoppedBy Sampling::measure(TimeSummary& summary) {
  const Activity activity("sampling");
  const std::size_t limit = std::max<std::size_t>(options_.max_samples, 1);
  const std::size_t least = std::min(fewest_samples(options_), limit);
  const double operations = static_cast<double>(summary.operations_per_sample);
  std::vector<double>& samples_s = summary.samples_s;
  samples_s.reserve(std::min<std::size_t>(limit, 1 << 16));
  std::size_t next_look = std::max(options_.min_samples, least_samples);
  int agreeing_looks = 0;
  for (;;) {
    samples_s.push_back(take(summary.operations_per_sample) / operations);
    if (samples_s.size() == next_look) {
      agreeing_looks = precise(options_, samples_s) ? agreeing_looks + 1 : 0;
      if (agreeing_looks == looks_to_agree) return StoppedBy::precision;
      next_look *= schedule_ratio;
    }
    if (samples_s.size() >= limit) return StoppedBy::sample_limit;
    if (samples_s.size() >= least && spent()) return StoppedBy::time_budget;
  }
}

/// Runs samples of `operations`, `sample_s` each, one at least: as many as last proof_s, and more where these
/// are few operations and short ones.
PathProof Sampling::prove(double sample_s, std::size_t operations) {
  if (!links_are_counted()) return {};
  const Activity activity("proof of the path");
  LinkTraffic traffic(WatchedDevices::now());
  // This also waits for every member to have read its counters, before anything moves.
  if (team_.maximum(traffic.counts() ? 1 : 0) == 0) return {};
  const double wanted =
      std::max(proof_s / sample_s,
               std::min(proof_operations / static_cast<double>(operations), longest_proof_s / sample_s));
  const auto rounds = static_cast<std::size_t>(std::max(1.0, std::ceil(wanted)));
  for (std::size_t i = 0; i < rounds; ++i)
    take(operations);
  team_.barrier();  // all has arrived
  return {rounds * operations, traffic.stop()};
}

}  // namespace

const char* to_string(StoppedBy stopped_by) {
  switch (stopped_by) {
  case StoppedBy::precision:
    return "precision";
  case StoppedBy::time_budget:
    return "time_budget";
  case StoppedBy::sample_limit:
    return "sample_limit";
  }
  throw std::logic_error("no such reason to stop");
}

TimeSummary sample(const SamplerOptions& options, const Batch& batch, Team& team,
                   const std::function<double()>& clock_s) {
  const std::function<double()> clock = clock_s ? clock_s : steady_clock_s;
  Sampling sampling(options, batch, team, clock);
  TimeSummary summary;
  summary.operations_per_sample =
      sampling.calibrate(std::max<std::size_t>(options.max_operations_per_sample, 1));
  summary.warmup_samples = sampling.warm_up(summary.operations_per_sample);
  summary.stopped_by = sampling.measure(summary);

  std::vector<double> sorted = summary.samples_s;
  std::sort(sorted.begin(), sorted.end());
  summary.samples = sorted.size();
  summary.median_s = median(sorted);
  if (!(summary.median_s > 0)) throw std::runtime_error("the operation is too short to be timed");
  summary.interval_s = median_interval(sorted, options.confidence);
  summary.confidence = std::min(options.confidence, attained_confidence(summary.samples));
  summary.converged = precise(options, summary.samples_s);
  if (options.prove_path)
    summary.proof = sampling.prove(summary.median_s * static_cast<double>(summary.operations_per_sample),
                                   summary.operations_per_sample);
  summary.operations_total = sampling.operations_total();
  return summary;
}

Json TimeSummary::json(bool keep_samples, double scale) const {
  std::vector<double> sorted = samples_s;
  std::sort(sorted.begin(), sorted.end());
  Json quantiles = Json::object();
  const std::pair<const char*, double> named[] = {{"min", 0},    {"p01", 0.01}, {"p05", 0.05}, {"p25", 0.25},
                                                  {"p75", 0.75}, {"p95", 0.95}, {"p99", 0.99}, {"max", 1}};
  for (const auto& [name, q] : named)
    quantiles.set(name, scale * quantile(sorted, q));
  const bool interval = confidence > 0;  // one sample has none
  Json result = Json::object({{"median", scale * median_s},
                              {"ci_low", interval ? Json(scale * interval_s.low) : Json()},
                              {"ci_high", interval ? Json(scale * interval_s.high) : Json()},
                              {"confidence", interval ? Json(confidence) : Json()},
                              {"samples", samples},
                              {"operations_per_sample", operations_per_sample},
                              {"warmup_samples", warmup_samples},
                              {"converged", converged},
                              {"stopped_by", to_string(stopped_by)},
                              {"quantiles", quantiles}});
  if (!keep_samples) return result;
  Json values = Json::array();
  for (const double value_s : samples_s)
    values.push(scale * value_s);
  return result.set("values", values);
}

}  // namespace weft
