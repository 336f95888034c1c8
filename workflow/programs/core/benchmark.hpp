// Self-registering benchmarks: a key, a sentence, axes, and the cases that their product makes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "core/options.hpp"
#include "core/sampler.hpp"

namespace weft {

/// What a case that ran has to say. The driver adds outcome, identity and the members the schema derives.
struct Measurement {
  TimeSummary time;
  double time_scale = 1.0;              ///< e.g. 0.5: half of a ping-pong
  const char* timer = "device_events";  ///< or "host_clock"
  std::optional<double>
      payload_bytes;                ///< moved per operation: bandwidth = payload_bytes / scaled median time
  std::uint64_t wrong = 0;          ///< bytes or elements; > 0 makes the outcome `wrong`
  std::vector<Json> device_states;  ///< of this process, where the driver's reading around the case is not it
  Json extra = Json::object();      ///< further members of the record, e.g. bus_bandwidth_bytes_per_s
};

/// One point of a benchmark's axes.
struct Case {
  Json identity;             ///< the axes' values, in the record as they stand
  std::string label;         ///< for the progress line: "0->1 64MiB write"
  std::vector<int> devices;  ///< that this process drives: whose state and traffic are read
  std::function<std::optional<std::string>()> unsupported;  ///< why it cannot run here; may be empty
  /// What must be done before the devices' state is read, e.g. moves bytes that are not part of the
  /// measurement; may be empty.
  std::function<void()> prepare;
  std::function<Measurement()> run;
};

struct Axis {
  std::string name, unit, description;
};

struct Run {
  const Options& options;
  SamplerOptions sampling;
  Team& team;
};

struct Benchmark {
  std::string key;       ///< "copy"; recorded as "p2p.copy"
  std::string sentence;  ///< what it measures and how, one sentence
  std::vector<Axis> axes;
  std::function<std::vector<Case>(const Run&)> cases;
};

/// Registers a benchmark from a static initialiser: `static const Registered copy{{"copy", "...", {...},
/// cases}};`
struct Registered {
  explicit Registered(Benchmark benchmark);
};
const std::vector<Benchmark>& registered_benchmarks();

}  // namespace weft
