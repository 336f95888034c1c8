#include "collective/kept_buffers.hpp"

#include "core/error.hpp"

namespace weft::collective {

const Buffer& KeptBuffers::of(int device, int use, std::size_t size_bytes) {
  std::deque<Buffer>& kept = kept_[{device, use}];
  if (!kept.empty() && kept.back().size_bytes() >= size_bytes) return kept.back();
  try {
    return grown(kept, device, size_bytes);
  } catch (const Unsupported&) {
    if (kept.empty()) throw;
    kept.clear();
    return grown(kept, device, size_bytes);
  }
}

const Buffer& KeptBuffers::grown(std::deque<Buffer>& kept, int device, std::size_t size_bytes) {
  return allocator_ ? kept.emplace_back(device, size_bytes, *allocator_)
                    : kept.emplace_back(Memory::device, device, size_bytes);
}

}  // namespace weft::collective
