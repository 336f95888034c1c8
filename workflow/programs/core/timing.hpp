// Timed regions: operations enqueued behind a gate between two events, on one stream or on several that start
// together.
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
  /// How many copies, launches, records and waits `enqueue` makes, on all streams together.
  std::size_t calls_per_operation = 1;
};

/// Runs `operations` operations on every lane at once and returns the seconds from the common start to the
/// end of the last lane. The lanes are held behind one gate while work is enqueued, unless `gated` is false
/// (copies staged by the driver may block the host behind a gate) or one operation alone is deeper than the
/// gate: then several lanes are fed by a thread each. Batches deeper than gate_depth() are split and their
/// times added.
///
/// Host backend: all streams share one clock, the time is from the first start to the last end. CUDA: clocks
/// of devices cannot be compared, so it is the longest of the lanes' own times; the gate starts them within
/// about a microsecond.
double time_lanes(const std::vector<Lane>& lanes, std::size_t operations, bool gated = true);

}  // namespace weft
