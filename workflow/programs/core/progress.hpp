// What the user sees while a program measures: one line a measurement, in units for reading.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "core/benchmark.hpp"
#include "core/record.hpp"

namespace weft {

/// 11.2 GB/s (1 GB/s = 1e9 B/s), 1.23 us: three significant digits.
std::string format_rate(double bytes_per_s);
std::string format_time(double time_s);

/// Prints to stderr; silent when told so.
class Progress {
 public:
  /// `names` are those of all cases to come, so that the columns line up.
  Progress(bool quiet, const std::vector<std::string>& names);

  void measured(const std::string& name, const Measurement& measurement);
  /// For the three other outcomes.
  void ended(const std::string& name, Outcome outcome, const std::string& reason);
  void finished(const std::string& program, const std::string& summary);

 private:
  void line(const std::string& name, const std::string& rest);

  bool quiet_;
  std::size_t count_, done_ = 0, width_ = 0;
};

}  // namespace weft
