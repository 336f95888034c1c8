// What the device layer does alike with both backends.
#include <stdexcept>
#include <utility>

#include "core/device.hpp"
#include "core/device_detail.hpp"
#include "core/error.hpp"

namespace weft {

const char* to_string(Backend backend) { return backend == Backend::cuda ? "cuda" : "host"; }

const char* to_string(Memory memory) {
  switch (memory) {
  case Memory::device:
    return "device";
  case Memory::pinned:
    return "pinned";
  case Memory::pageable:
    return "pageable";
  }
  throw std::logic_error("no such kind of memory");
}

Buffer::Buffer(int device, std::size_t size_bytes, const DeviceAllocator& allocator)
    : size_bytes_(size_bytes), device_(device), give_back_(allocator.give_back) {
  detail::check_device(device);
  data_ = allocator.take(device, size_bytes);
  if (!data_) detail::out_of_memory(memory_, device, size_bytes);
}

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_bytes_(std::exchange(other.size_bytes_, 0)),
      memory_(other.memory_), device_(other.device_), give_back_(other.give_back_) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(memory_, other.memory_);
  std::swap(device_, other.device_);
  std::swap(give_back_, other.give_back_);
  return *this;
}

PeerAccess::PeerAccess(PeerAccess&& other) noexcept : a_(other.a_), b_(std::exchange(other.b_, other.a_)) {}

namespace detail {

void check_device(int device) {
  if (device < 0 || device >= device_count())
    throw std::out_of_range("device " + std::to_string(device) + " does not exist, there are " +
                            std::to_string(device_count()));
}

void check_place(const char* role, const Place& place, std::size_t size_bytes) {
  const std::size_t available = place.buffer->size_bytes();
  if (place.offset_bytes <= available && size_bytes <= available - place.offset_bytes) return;
  throw std::out_of_range(std::string(role) + " of " + std::to_string(size_bytes) + " bytes at offset " +
                          std::to_string(place.offset_bytes) + " is beyond its buffer of " +
                          std::to_string(available) + " bytes");
}

void out_of_memory(Memory memory, int device, std::size_t size_bytes) {
  throw Unsupported("no room for " + std::to_string(size_bytes) + " bytes of " + to_string(memory) +
                    " memory for device " + std::to_string(device));
}

bool between_devices(const Place& destination, const Place& source) {
  return destination.buffer->memory() == Memory::device && source.buffer->memory() == Memory::device &&
         destination.buffer->device() != source.buffer->device();
}

std::string gate_timeout_words(double timeout_s) {
  return "a stream waited " + std::to_string(timeout_s) +
         " s at the start gate and gave up: most likely the host was blocked by work that itself waits "
         "behind the gate "
         "(a full launch queue, a kernel loaded on first use, or a call that synchronises)";
}

}  // namespace detail
}  // namespace weft
