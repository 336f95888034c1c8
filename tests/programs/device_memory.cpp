// What both backends of the device layer promise of memory and devices: copies, buffers, peer access. The
// same source runs on the host and on GPUs.
#include <cstring>

#include "check.hpp"
#include "core/error.hpp"
#include "device_bytes.hpp"

using namespace weft;

namespace {

/// One buffer of every kind that a copy can begin or end in.
std::vector<Buffer> one_of_each(std::size_t size_bytes) {
  std::vector<Buffer> buffers;
  buffers.emplace_back(Memory::device, 0, size_bytes);
  buffers.emplace_back(Memory::device, second_device(), size_bytes);
  buffers.emplace_back(Memory::pinned, 0, size_bytes);
  buffers.emplace_back(Memory::pinned, second_device(), size_bytes);
  buffers.emplace_back(Memory::pageable, 0, size_bytes);
  return buffers;
}

/// Copies between all kinds of memory at many sizes and offsets, and looks at every byte of the destination.
void check_all_copies() {
  constexpr std::size_t capacity = (3 << 20) + 64;
  const std::vector<Buffer> sources = one_of_each(capacity), destinations = one_of_each(capacity);
  const Bytes sent = counting_bytes(capacity, 1), before = counting_bytes(capacity, 100);
  for (const Buffer& source : sources)
    write(source, sent);
  struct Shape {
    std::size_t size, from, to;
  };
  const std::vector<Shape> shapes{
      {1, 0, 0},        {3, 1, 2},       {4, 4, 8},    {7, 0, 5},       {8, 8, 0},
      {63, 3, 17},      {4096, 0, 0},    {4097, 9, 1}, {65536, 16, 32}, {(1 << 20) + 5, 1, 3},
      {3 << 20, 64, 0}, {capacity, 0, 0}};
  for (const Buffer& source : sources)
    for (const Buffer& destination : destinations)
      for (const Shape& shape : shapes) {
        write(destination, before);
        Stream stream(destination.device());
        copy(stream, {&destination, shape.to}, {&source, shape.from}, shape.size);
        stream.synchronize();
        Bytes expected = before;
        std::memcpy(expected.data() + shape.to, sent.data() + shape.from, shape.size);
        CHECK(read_back(destination) == expected);
      }
}

}  // namespace

TEST(copies_move_exactly_the_bytes_asked_for) { check_all_copies(); }

TEST(copies_move_exactly_the_bytes_asked_for_with_peer_access) {
  if (!can_access_peer(0, second_device())) return;
  const PeerAccess access(0, second_device());
  check_all_copies();
}

TEST(copies_beyond_a_buffer_are_refused) {
  const Buffer small(Memory::device, 0, 100), large(Memory::device, 0, 200);
  Stream stream(0);
  const auto message = CHECK_THROWS(copy(stream, {&small, 1}, {&large}, 100), std::out_of_range);
  CHECK(message.find("destination of 100 bytes at offset 1 is beyond its buffer of 100 bytes") !=
        std::string::npos);
  CHECK_THROWS(copy(stream, {&large}, {&small}, 101), std::out_of_range);
  CHECK_THROWS(copy(stream, {&large, 201}, {&small}, 0), std::out_of_range);
}

TEST(peer_access_lets_a_kernel_store_to_another_device) {
  const int other = second_device();
  if (other == 0 || !can_access_peer(0, other)) return;
  const Buffer remote(Memory::device, other, sizeof(unsigned));
  write(remote, Bytes(sizeof(unsigned), 0));
  PeerAccess outer(0, other);
  {
    const PeerAccess inner(other, 0);
  }
  PeerAccess moved(std::move(outer));
  Stream stream(0);
  launch(stream, 1, Store{remote.as<unsigned>(), 0x01010101u});
  stream.synchronize();
  CHECK(read_back(remote) == Bytes(4, 1));
}

TEST(buffers_move) {
  Buffer first(Memory::device, second_device(), 1000);
  write(first, counting_bytes(1000, 8));
  void* data = first.data();
  Buffer second(std::move(first));
  CHECK(second.data() == data);
  CHECK_EQ(second.size_bytes(), 1000u);
  CHECK_EQ(second.device(), second_device());
  Buffer third(Memory::pinned, 0, 10);
  third = std::move(second);
  CHECK(third.memory() == Memory::device);
  CHECK(read_back(third) == counting_bytes(1000, 8));
}

TEST(a_buffer_needs_a_byte_and_a_device_and_room) {
  CHECK_THROWS(Buffer(Memory::device, 0, 0), std::invalid_argument);
  CHECK_THROWS(Buffer(Memory::device, device_count(), 8), std::out_of_range);
  CHECK_THROWS(Buffer(Memory::device, -1, 8), std::out_of_range);
  CHECK_THROWS(Buffer(Memory::device, 0, std::size_t{1} << 46), Unsupported);
  CHECK_THROWS(Buffer(Memory::pageable, 0, std::size_t{1} << 46), Unsupported);
  const Buffer still_works(Memory::device, 0, 8);
  write(still_works, counting_bytes(8, 0));
}

TEST(devices_that_do_not_exist_are_refused) {
  const int none = device_count();
  CHECK_THROWS(Stream(none), std::out_of_range);
  CHECK_THROWS(Event(none), std::out_of_range);
  CHECK_THROWS(device_properties(none), std::out_of_range);
  CHECK_THROWS(can_access_peer(0, none), std::out_of_range);
  CHECK_THROWS(PeerAccess(none, 0), std::out_of_range);
}

TEST(every_device_has_properties) {
  CHECK(device_count() >= 1);
  for (int device = 0; device < device_count(); ++device) {
    const DeviceProperties properties = device_properties(device);
    CHECK_EQ(properties.device, device);
    CHECK(!properties.name.empty());
    CHECK(properties.memory_bytes > 0);
    CHECK_EQ(properties.pci_bus_id.has_value(), backend() == Backend::cuda);
    CHECK_EQ(properties.cores.empty(), backend() == Backend::cuda);
    CHECK(can_access_peer(device, device));
  }
}

TEST(the_number_of_host_devices_is_checked) {
  CHECK_THROWS(set_host_devices(0), UsageError);
  CHECK_THROWS(set_host_devices(-3), UsageError);
  CHECK_THROWS(set_host_devices(100000), UsageError);
  const int count = device_count();
  const auto message = CHECK_THROWS(set_host_devices(count + 1), UsageError);
  CHECK(message.find("--host-devices") != std::string::npos);
  CHECK_EQ(device_count(), count);
}
