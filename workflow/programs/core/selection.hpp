// Which benchmarks of a program are run, and how they are listed.
#pragma once

#include <string>
#include <vector>

#include "core/benchmark.hpp"

namespace weft {

/// The registered benchmarks that --benchmarks names, by key or by a prefix of one, each once and in the
/// order of registration. Throws UsageError where a name is no prefix of any key.
std::vector<const Benchmark*> selected_benchmarks(const Options& options);

/// The text of --list: key, sentence and axes of every benchmark.
std::string list_benchmarks(const std::string& program);

}  // namespace weft
