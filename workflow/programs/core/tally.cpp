#include "core/tally.hpp"

#include <map>
#include <utility>

namespace weft {

namespace {

/// Of a device, and of the host beside it. Never freed: to free pinned memory waits for every device, and
/// takes longer than what is counted; at exit CUDA may be gone already.
const std::pair<Buffer, Buffer>& kept(int device) {
  static auto& all = *new std::map<int, std::pair<Buffer, Buffer>>;
  auto found = all.find(device);
  if (found == all.end()) {
    constexpr std::size_t size_bytes = sizeof(unsigned long long);
    found = all.emplace(device, std::pair(Buffer(Memory::device, device, size_bytes),
                                          Buffer(Memory::pinned, device, size_bytes)))
                .first;
  }
  return found->second;
}

}  // namespace

Tally::Tally(Stream& stream)
    : stream_(stream), counted_(kept(stream.device()).first), seen_(kept(stream.device()).second) {
  *seen_.as<unsigned long long>() = 0;
  copy(stream_, {&counted_}, {&seen_}, counted_.size_bytes());
}

unsigned long long* Tally::address() const { return counted_.as<unsigned long long>(); }

unsigned long long Tally::read() {
  copy(stream_, {&seen_}, {&counted_}, counted_.size_bytes());
  stream_.synchronize();
  return *seen_.as<unsigned long long>();
}

}  // namespace weft
