// The line a user sees for each measurement.
#pragma once

#include <string>

#include "core/benchmark.hpp"
#include "core/record.hpp"

namespace weft {

/// `p2p.copy  0->1 64MiB write   11.2 GB/s  5.98 ms ±0.8 %  23 samples`. `measurement` is null where none was
/// made.
std::string progress_line(const std::string& benchmark, const Case& one, Outcome outcome,
                          const std::string& reason, const Measurement* measurement);

}  // namespace weft
