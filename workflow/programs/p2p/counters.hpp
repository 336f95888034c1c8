// Words in the memory of one device that the threads of another count up at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/device.hpp"
#include "core/timing.hpp"

namespace weft {

/// Which words the threads add to: all to one, each to its own and these side by side, or 128 bytes apart, so
/// that no two are in one line of a cache.
enum class Addresses { one, neighbouring, spread };

/// Atomic additions of system scope, relaxed: nothing else is ordered by them. There are as many threads as
/// fill the adding device, each with `adds_per_thread` additions an operation; host backend: the stream's
/// worker takes the threads in turn. With `want_results` each thread sums up what the words held before.
class Counters {
 public:
  static constexpr std::size_t adds_per_thread = 16;

  Counters(int adder, int holder, Addresses addresses, bool want_results);

  std::size_t adds_per_operation() const { return threads_ * adds_per_thread; }
  /// Bytes on the holder's device.
  static std::size_t bytes_of(int adder, Addresses addresses);

  /// A lane that adds, once per operation.
  Lane lane();
  /// Words and sums of results that are not what `operations` operations since the start leave.
  std::uint64_t wrong(std::size_t operations);

 private:
  void enqueue();

  std::size_t threads_, stride_;
  bool want_results_;
  Buffer words_, sums_;
  Stream stream_;
};

}  // namespace weft
