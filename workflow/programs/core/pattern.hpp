// Position-dependent pseudo-random data, written and checked on the device that holds it.
#pragma once

#include <cstdint>

#include "core/device.hpp"

namespace weft {

/// The 8-byte word at `index` of pattern `seed` (splitmix64, Steele et al., OOPSLA 2014).
WEFT_HOST_DEVICE std::uint64_t pattern_word(std::uint64_t seed, std::uint64_t index);

/// Fills [offset, offset + size) with pattern `seed`; any size, byte-exact. Works on device, pinned and pageable buffers.
/// Returns after the fill.
void fill_pattern(const Buffer& buffer, std::size_t offset_bytes, std::size_t size_bytes, std::uint64_t seed);

/// The number of bytes that differ from pattern `seed`. With --inject-corruption one byte is flipped before the check.
std::uint64_t count_wrong_bytes(const Buffer& buffer, std::size_t offset_bytes, std::size_t size_bytes, std::uint64_t seed);

/// Makes every later check see one flipped byte: shows that verification works.
void inject_corruption(bool on);
bool corruption_injected();

}  // namespace weft
