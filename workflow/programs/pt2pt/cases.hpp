// The cases of a benchmark: configurations times rounds of pairs.
#pragma once

#include "core/benchmark.hpp"
#include "mpi/world.hpp"
#include "pt2pt/round.hpp"

namespace weft {

/// What --list says of the axes that all benchmarks here have, with or without a window, with or without
/// pairs.
std::vector<Axis> message_axes(bool with_window, bool with_pairs);

/// --window.
int window_of(const Run& run);

/// A case for every pair of every round and configuration. `symmetric`: both directions of a pair are one
/// measurement. `window`: messages in flight where the benchmark has any, recorded.
std::vector<Case> pair_cases(const Run& run, const Exercise& exercise, bool symmetric,
                             std::optional<int> window);

/// What every case of this program records of itself.
Json configuration_identity(const World& world, const Configuration& configuration, std::size_t pairs,
                            std::optional<int> window);
std::string configuration_label(const Configuration& configuration);

}  // namespace weft
