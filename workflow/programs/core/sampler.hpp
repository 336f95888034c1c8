// Adaptive sampling: how many times an operation is timed, and when that is enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "core/statistics.hpp"
#include "core/team.hpp"

namespace weft {

struct SamplerOptions {
  double precision = 0.02;  ///< half width of the interval, relative to the median
  double confidence = 0.95;
  std::size_t min_samples = 20;  ///< unless the budget is spent before: then what the confidence needs
  std::size_t max_samples = 10000;
  double budget_s = 0.5;  ///< of one measurement, warm-up included
  double min_sample_s =
      20e-6;  ///< operations are batched until a sample lasts this long, against timer resolution
  std::size_t max_operations_per_sample = 1 << 20;
  bool keep_samples = false;
  bool prove_path = true;  ///< some milliseconds more, where links are counted
};

/// What ended the sampling.
enum class StoppedBy { precision, time_budget, sample_limit };
const char* to_string(StoppedBy stopped_by);

/// Operations run after those that were sampled, between two readings of the link counters: what carried the
/// payload. None where nothing counts.
struct PathProof {
  std::size_t operations = 0;
  std::vector<Json> devices;  ///< of this process; see LinkTraffic::stop
};

/// Seconds of one operation. Serialised as `time_s` of a measurement (record.schema.json).
struct TimeSummary {
  double median_s = 0;
  Interval interval_s{0, 0};
  double confidence = 0;
  std::size_t samples = 0;
  std::size_t operations_per_sample = 0;
  std::size_t warmup_samples = 0;
  std::size_t operations_total = 0;  ///< every operation executed, warm-up and calibration included
  bool converged = false;
  StoppedBy stopped_by = StoppedBy::precision;
  std::vector<double> samples_s;  ///< in the order taken
  PathProof proof;

  /// `scale` multiplies all times, e.g. 0.5 for one way of a ping-pong.
  Json json(bool keep_samples, double scale = 1.0) const;
};

/// Runs `operations` operations back to back and returns the seconds they took together. On every rank of a
/// team the value returned must be the same (the team's maximum), so that all decide alike.
using Batch = std::function<double(std::size_t operations)>;

/// Times an operation until the interval of the median is precise enough, the budget is spent or the sample
/// limit reached.
///
/// First it calibrates the operations of a sample, so many that they last `min_sample_s`; then it
/// warms up until steady; then it samples. The interval is looked at when there are min_samples, twice and
/// four times as many and so on, and precision ends sampling when two looks in a row find it, since looking
/// after every sample would stop on lucky streaks. The budget ends it as soon as there are as many
/// samples as an interval of that confidence needs (6 for 95 %), or as many as were asked for if these are
/// fewer: the summary states the confidence attained.
///
/// Then, where the links of the watched devices are counted, it runs some milliseconds of operations more, in
/// samples of the same size, to prove what path they take (core/link_traffic.hpp).
///
/// The interval takes samples for independent. Where they are not (drifting clocks, periodic disturbance) it
/// is too narrow; repeats of the whole job, kept apart from samples, are there to show that.
///
/// `clock_s` gives the time for the budget (tests replace it); the team's leader decides when it is spent.
/// Throws std::runtime_error when the operation is too short for the timer.
TimeSummary sample(const SamplerOptions& options, const Batch& batch, Team& team,
                   const std::function<double()>& clock_s = {});

}  // namespace weft
