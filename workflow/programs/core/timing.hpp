// Timed regions: operations enqueued behind a gate between two events, on one stream or on several that start
// together.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
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
/// The time is from the first start to the last end where streams share a clock: host backend: all; CUDA:
/// those of one device. Clocks of devices cannot be compared, so of several devices it is the longest time;
/// the gate starts them within about a microsecond.
double time_lanes(const std::vector<Lane>& lanes, std::size_t operations, bool gated = true);

/// Lanes whose operations are kept as one graph each: nothing but the launch of the graphs is enqueued, so
/// that a device goes from one operation to the next without the host.
class GraphedLanes {
 public:
  explicit GraphedLanes(std::vector<Lane> lanes) : lanes_(std::move(lanes)) {}

  /// As time_lanes(). The graphs are made when the number of operations is another than the last.
  double time(std::size_t operations);

 private:
  std::vector<Lane> lanes_, launches_;
  std::vector<Graph> graphs_;
  std::size_t operations_ = 0;
};

}  // namespace weft
