#include "core/progress.hpp"

#include <algorithm>
#include <cstdio>

namespace weft {

/// Three significant digits, more would pretend: `5.98 ms`.
static std::string engineering(double value, const char* unit, double first_factor,
                               std::initializer_list<const char*> prefixes) {
  double factor = first_factor;
  const char* prefix = *prefixes.begin();
  for (const char* next : prefixes) {
    prefix = next;
    if (value < factor * 1000 || next == *(prefixes.end() - 1)) break;
    factor *= 1000;
  }
  const double shown = value / factor;
  char text[48];
  std::snprintf(text, sizeof text, "%.*f %s%s",
                shown < 9.995   ? 2
                : shown < 99.95 ? 1
                                : 0,
                shown, prefix, unit);
  return text;
}

std::string progress_line(const std::string& benchmark, const Case& one, Outcome outcome,
                          const std::string& reason, const Measurement* measurement) {
  char head[256];
  std::snprintf(head, sizeof head, "%-28s %-44s ", benchmark.c_str(), one.label.c_str());
  if (measurement == nullptr) return std::string(head) + to_string(outcome) + ": " + reason;
  const TimeSummary& time = measurement->time;
  const double median_s = time.median_s * measurement->time_scale;
  const double reach =
      std::max(time.median_s - time.interval_s.low, time.interval_s.high - time.median_s) / time.median_s;
  char tail[256];
  std::snprintf(
      tail, sizeof tail, "%12s %12s ±%-4.1f%% %6zu samples%s",
      measurement->payload_bytes
          ? engineering(*measurement->payload_bytes / median_s, "B/s", 1, {"", "k", "M", "G", "T"}).c_str()
          : "",
      engineering(median_s, "s", 1e-9, {"n", "u", "m", ""}).c_str(), 100 * reach, time.samples,
      time.converged ? "" : (std::string(", ") + to_string(time.stopped_by)).c_str());
  return std::string(head) + tail +
         (outcome == Outcome::measured ? "" : "  " + std::string(to_string(outcome)) + ": " + reason);
}

}  // namespace weft
