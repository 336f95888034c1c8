// Which benchmarks of a program are run, and how they are listed.
#pragma once

#include <string>
#include <vector>

#include "core/benchmark.hpp"

namespace weft {

/// The registered benchmarks that --benchmarks names, each once and in the order of registration: by key as
/// it is or as records have it (`copy`, `p2p.copy`), or by how keys begin where none is the name itself.
/// Throws UsageError where no key is meant.
std::vector<const Benchmark*> selected_benchmarks(const Options& options);

/// The text of --list: key, sentence and axes of every benchmark.
std::string list_benchmarks(const std::string& program);

}  // namespace weft
