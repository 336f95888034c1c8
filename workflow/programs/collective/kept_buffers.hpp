// Device memory of the cases, kept for those that follow.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <utility>

#include "core/device.hpp"

namespace weft::collective {

/// Buffers that live until the program ends: MPI libraries remember what they did for an address (registered
/// it, opened its CUDA IPC handle), and UCX was seen to read from the buffer that lay there before.
class KeptBuffers {
 public:
  /// A buffer on `device` of at least `size_bytes`; the same one for the same `use` while it is large enough.
  /// Throws Unsupported when there is no room for it, those of this use that were too small let go.
  const Buffer& of(int device, int use, std::size_t size_bytes);

 private:
  std::map<std::pair<int, int>, std::deque<Buffer>> kept_;
};

}  // namespace weft::collective
