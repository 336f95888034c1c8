// What the tests of the device layer share: bytes in buffers, and words that kernels set.
#pragma once

#include <cstring>
#include <vector>

#include "core/device.hpp"

namespace weft {

using Bytes = std::vector<unsigned char>;

/// With one device only, that device stands in for the second.
inline int second_device() { return device_count() > 1 ? 1 : 0; }

inline Bytes read_back(const Buffer& buffer) {
  const Buffer seen(Memory::pinned, buffer.device(), buffer.size_bytes());
  Stream stream(buffer.device());
  copy(stream, {&seen}, {&buffer}, buffer.size_bytes());
  stream.synchronize();
  const auto* begin = seen.as<unsigned char>();
  return Bytes(begin, begin + seen.size_bytes());
}

inline void write(const Buffer& buffer, const Bytes& bytes) {
  const Buffer staged(Memory::pinned, buffer.device(), bytes.size());
  std::memcpy(staged.data(), bytes.data(), bytes.size());
  Stream stream(buffer.device());
  copy(stream, {&buffer}, {&staged}, bytes.size());
  stream.synchronize();
}

inline Bytes counting_bytes(std::size_t count, unsigned start) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<unsigned char>((i * 7 + i / 256 + start) & 0xff);
  return bytes;
}

struct Store {
  unsigned* word;
  unsigned value;
  WEFT_HOST_DEVICE void operator()(std::size_t) const { *word = value; }
};

/// A word that both the host and the devices can see.
struct SharedWord {
  Buffer buffer{Memory::pinned, 0, sizeof(unsigned)};
  explicit SharedWord(unsigned value) { *buffer.as<volatile unsigned>() = value; }
  unsigned value() const { return *buffer.as<volatile unsigned>(); }
};

}  // namespace weft
