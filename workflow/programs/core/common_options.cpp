#include "core/common_options.hpp"

#include <algorithm>

#include "core/benchmark.hpp"
#include "core/device.hpp"
#include "core/environment.hpp"
#include "core/error.hpp"
#include "core/variable.hpp"
#include "core/watchdog.hpp"

namespace weft {

void declare_common(Options& options) {
  options.flag("help", "says what the options are").flag("list", "says what the benchmarks are");
  options.flag("version", "says which build this is");
  options.add("output", "FILE", "record file to write (JSON Lines)", "");
  if (!registered_benchmarks().empty()) {
    options.add("benchmarks", "LIST", "keys of benchmarks, or how they begin", "all");
    options.add("sizes", "SIZES", "payloads in bytes: 4,64KiB,1GiB or LOW:HIGH:xFACTOR", "4:1GiB:x4");
  }
  options.add("precision", "SHARE",
              "half width of the interval at which sampling ends, relative to the median", "0.02");
  options.add("confidence", "SHARE", "confidence of the interval of the median", "0.95");
  options.add(
      "min-sample-s", "SECONDS",
      "shortest sample: shorter operations are repeated in it; default: 0.001 on CUDA, where events and "
      "the gate cost about 9 us a sample, 20e-6 on the host",
      "auto");
  options.add("min-samples", "N", "fewest samples, unless the budget is spent before", "20");
  options.add("max-samples", "N", "most samples", "10000");
  options.add("budget-s", "SECONDS", "time after which sampling ends, of each measurement, warm-up included",
              "0.5");
  options.flag("keep-samples", "puts every sample into the record");
  options.add("repeat", "N", "which repeat of the whole job this is", "0");
  options.add("system", "NAME", "copied to the environment record", "none");
  options.add("campaign", "NAME", "copied to the environment record", "none");
  options.add("experiment", "NAME", "copied to the environment record", "none");
  options.add("host-devices", "N", "host backend: number of devices; default: one a NUMA node, four at least",
              "auto");
  options.flag("inject-corruption", "flips a byte before every verification, to show that it is noticed");
  options.flag("quiet", "no line a measurement");
  options.add(
      "watchdog-s", "SECONDS",
      "time without progress (a sample, a phase) after which the run counts as hung and ends with status 3; "
      "0: never",
      "120");
  options.add("expect-devices", "N",
              "how many devices were asked for, 0: any; another number visible here ends the program", "0");
}

SamplerOptions sampler_options(const Options& options) {
  constexpr double least = 1e-9;
  SamplerOptions sampling;
  // What a sample costs beside its operations is part of it: 9 us from a gate through events and copy engines
  // (docs/method.md), some tens of nanoseconds of the host's clock.
  const double shortest_s = backend() == Backend::cuda ? 1e-3 : 20e-6;
  const bool given = options.text("min-sample-s") != "auto";
  sampling.min_sample_s = given ? options.number("min-sample-s", least, 60) : shortest_s;
  sampling.precision = options.number("precision", least, 1);
  sampling.confidence = options.number("confidence", least, 1 - least);
  sampling.min_samples = options.integer("min-samples", 1, 10'000'000);
  sampling.max_samples = options.integer("max-samples", 1, 10'000'000);
  sampling.budget_s = options.number("budget-s", least, 1e6);
  sampling.keep_samples = options.is_set("keep-samples");
  if (sampling.min_samples > sampling.max_samples)
    throw UsageError("--min-samples " + std::to_string(sampling.min_samples) +
                     " is more than --max-samples " + std::to_string(sampling.max_samples) +
                     "; give at most as many.");
  return sampling;
}

double watchdog_limit_s(const Options& options) {
  const double limit_s = options.number("watchdog-s", 0, 1e6);
  if (limit_s > 0 && limit_s < 1)
    throw UsageError("--watchdog-s " + options.text("watchdog-s") +
                     " is less than 1; give 1 or more, or 0: never.");
  return limit_s;
}

/// The host backend's devices are none of the scheduler's: there its grant stands for what a GPU program
/// would see.
static int visible_devices() {
  const auto granted = variable("CUDA_VISIBLE_DEVICES");
  if (backend() == Backend::cuda || !granted || !variable("SLURM_JOB_ID")) return device_count();
  return 1 + static_cast<int>(std::count(granted->begin(), granted->end(), ','));
}

void check_devices(const Options& options) {
  const auto expected = static_cast<int>(options.integer("expect-devices", 0, 1024));
  const int visible = visible_devices();
  if (expected == 0 || expected == visible) return;
  throw UsageError("--expect-devices asks for " + std::to_string(expected) + ", but " + hostname() +
                   " shows " + std::to_string(visible) + " to this process" +
                   (visible < expected ? "; start every rank with all devices of its node visible, without "
                                         "--gpus-per-task and --gpu-bind."
                                       : "; change the scheduler's request or the option."));
}

}  // namespace weft
