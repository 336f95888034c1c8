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
  /// `allocator`: null for the backend's own memory.
  explicit KeptBuffers(const DeviceAllocator* allocator = nullptr) : allocator_(allocator) {}
  /// A buffer on `device` of at least `size_bytes`; the same one for the same `use` while it is large enough.
  /// Throws Unsupported when there is no room for it, those of this use that were too small let go.
  const Buffer& of(int device, int use, std::size_t size_bytes);

 private:
  const Buffer& grown(std::deque<Buffer>& kept, int device, std::size_t size_bytes);

  const DeviceAllocator* allocator_;
  std::map<std::pair<int, int>, std::deque<Buffer>> kept_;
};

}  // namespace weft::collective
