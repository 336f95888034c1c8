// Timed regions: operations enqueued behind a gate between two events, on one stream or on several that start together.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "core/device.hpp"

namespace weft {

/// One stream's part of a concurrent operation: enqueues operation number `i`.
struct Lane {
  Stream* stream;
  std::function<void(std::size_t i)> enqueue;
};

/// Runs `operations` operations on every lane at once and returns the seconds from the common start to the end of the
/// last lane. The lanes are held behind one gate while work is enqueued, unless `gated` is false (copies staged by the
/// driver may block the host behind a gate). Batches deeper than gate_depth() are split and their times added.
double time_lanes(const std::vector<Lane>& lanes, std::size_t operations, bool gated = true);

}  // namespace weft
