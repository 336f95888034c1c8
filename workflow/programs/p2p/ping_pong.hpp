// A flag that two devices pass to and fro: each stores into the other's memory and polls its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/device.hpp"

namespace weft {

/// Two kernels of one thread each, alive at the same time on two devices with peer access. Neither the order
/// of other data nor a launch is in the time: loads and stores are relaxed and of system scope, and the clock
/// is read by the starting side between round trips. A side that waits for longer than `patience_s` gives up.
class PingPong {
 public:
  PingPong(int starter, int answerer, double patience_s = 2.0);

  /// Seconds of `round_trips` round trips, after some to get both sides going. Throws CallError when a side
  /// gave up.
  double time(std::size_t round_trips);
  /// Bytes of the two flags that are not what the last round trip left there.
  std::uint64_t wrong_bytes();

  /// What reads the clock: the `timer` of a record.
  static const char* const timer;
  /// The clock of a device ticks up to a microsecond apart: samples this long keep it below 1 %.
  static constexpr double min_sample_s = 200e-6;

 private:
  void play(std::uint32_t round_trips);

  Buffer starter_flag_, answerer_flag_, outcome_;
  Stream starter_, answerer_;
  std::uint64_t patience_ns_;
  std::uint32_t last_ = 0;
};

}  // namespace weft
