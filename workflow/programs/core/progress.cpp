#include "core/progress.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace weft {

namespace {

struct Unit {
  double factor;
  const char* name;
};

template <std::size_t count>
std::string format(double value, const Unit (&units)[count]) {
  const Unit* unit = units;
  while (unit + 1 < units + count && value < 0.9995 * unit->factor)
    ++unit;
  const double shown = value / unit->factor;
  const int decimals = shown >= 99.95 ? 0 : shown >= 9.995 ? 1 : 2;
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%.*f %s", decimals, shown, unit->name);
  return text.data();
}

std::string pad_left(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string spread(const Measurement& measurement) {
  const TimeSummary& time = measurement.time;
  const double half_width = (time.interval_s.high - time.interval_s.low) / 2 / time.median_s;
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "\xc2\xb1%4.1f %%", 100 * half_width);
  return text.data();
}

}  // namespace

std::string format_rate(double bytes_per_s) {
  constexpr Unit units[] = {{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {1, "B/s"}};
  return format(bytes_per_s, units);
}

std::string format_time(double time_s) {
  constexpr Unit units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  return format(time_s, units);
}

Progress::Progress(bool quiet, const std::vector<std::string>& names) : quiet_(quiet), count_(names.size()) {
  constexpr std::size_t widest = 70;
  for (const std::string& name : names)
    width_ = std::max(width_, std::min(name.size(), widest));
}

void Progress::measured(const std::string& name, const Measurement& measurement) {
  const double time_s = measurement.time.median_s * measurement.time_scale;
  const std::string value =
      measurement.payload_bytes ? format_rate(*measurement.payload_bytes / time_s) : format_time(time_s);
  line(name, pad_left(value, 10) + "  " + spread(measurement) + "  (" +
                 std::to_string(measurement.time.samples) + " samples" +
                 (measurement.time.stopped_by == StoppedBy::precision
                      ? ""
                      : std::string(", stopped by ") + to_string(measurement.time.stopped_by)) +
                 ")");
}

void Progress::ended(const std::string& name, Outcome outcome, const std::string& reason) {
  line(name, pad_left(to_string(outcome), 10) + ": " + reason);
}

void Progress::finished(const std::string& program, const std::string& summary) {
  if (!quiet_) std::fprintf(stderr, "%s: %s\n", program.c_str(), summary.c_str());
}

void Progress::line(const std::string& name, const std::string& rest) {
  ++done_;
  if (quiet_) return;
  const std::string total = std::to_string(count_);
  std::fprintf(stderr, "[%s/%s] %-*s  %s\n", pad_left(std::to_string(done_), total.size()).c_str(),
               total.c_str(), static_cast<int>(width_), name.c_str(), rest.c_str());
}

}  // namespace weft
