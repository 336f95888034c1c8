// What the two backends of the device layer share, and nobody else needs.
#pragma once

#include <string>

#include "core/device.hpp"

namespace weft::detail {

/// Throws std::out_of_range when there is no such device.
void check_device(int device);
/// Throws std::out_of_range when the bytes are not all inside the buffer.
void check_place(const char* role, const Place& place, std::size_t size_bytes);
/// Whether both ends are device memory, of different devices.
bool between_devices(const Place& destination, const Place& source);
/// Throws Unsupported.
[[noreturn]] void out_of_memory(Memory memory, int device, std::size_t size_bytes);
std::string gate_timeout_words(double timeout_s);

}  // namespace weft::detail
