// Position-dependent pseudo-random data, written and checked on the device that holds it.
#pragma once

#include <cstdint>

#include "core/device.hpp"

namespace weft {

/// The 8-byte word at `index` of pattern `seed` (splitmix64: Steele, Lea & Flood, OOPSLA 2014).
WEFT_HOST_DEVICE inline std::uint64_t pattern_word(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// Fills [offset, offset + size) with pattern `seed`; any size, byte-exact. Word 0 of the pattern lies at the
/// offset, lowest byte first, so that the same pattern is found wherever the bytes were copied. Works on
/// device, pinned and pageable buffers. Returns after the fill.
void fill_pattern(const Buffer& buffer, std::size_t offset_bytes, std::size_t size_bytes, std::uint64_t seed);

/// The number of bytes that differ from pattern `seed`. With --inject-corruption one byte is flipped before
/// the check.
std::uint64_t count_wrong_bytes(const Buffer& buffer, std::size_t offset_bytes, std::size_t size_bytes,
                                std::uint64_t seed);

/// Makes every later check flip one byte first: shows that verification works.
void inject_corruption(bool on);
bool corruption_injected();

}  // namespace weft
