// Host backend: memory on a device's NUMA node, in large pages where the kernel grants them.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

#include "core/device_detail.hpp"
#include "core/error.hpp"
#include "core/host_memory.hpp"

namespace weft {
namespace {

constexpr std::size_t large_page = std::size_t{2} << 20;

/// Refuses what the machine cannot hold: overcommitted memory would end the process on first touch, without a
/// word.
void check_available(std::size_t size_bytes) {
  if (size_bytes < 64 * large_page) return;
  const std::uint64_t available = available_host_memory_bytes();
  if (available < size_bytes)
    throw Unsupported("a buffer of " + std::to_string(size_bytes >> 20) + " MiB does not fit into the " +
                      std::to_string(available >> 20) + " MiB of memory that are available");
}

std::size_t whole_pages(std::size_t size_bytes) {
  const std::size_t page =
      size_bytes < large_page ? static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) : large_page;
  return (size_bytes + page - 1) / page * page;
}

void* map_pages(std::size_t size_bytes) {
  const std::size_t length = whole_pages(size_bytes);
  const std::size_t slack = length < large_page ? 0 : large_page;
  void* mapped = mmap(nullptr, length + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    throw Unsupported("a buffer of " + std::to_string(size_bytes) + " bytes: " + std::strerror(errno));
  if (slack == 0) return mapped;
  auto* begin = static_cast<std::byte*>(mapped);
  const std::size_t before = (large_page - reinterpret_cast<std::uintptr_t>(begin) % large_page) % large_page;
  if (before > 0) munmap(begin, before);
  if (slack > before) munmap(begin + before + length, slack - before);
  madvise(begin + before, length, MADV_HUGEPAGE);  // a wish: without it the copies are slower, not wrong
  return begin + before;
}

}  // namespace

Buffer::Buffer(Memory memory, int device, std::size_t size_bytes)
    : size_bytes_(size_bytes), memory_(memory), device_(device) {
  detail::check_device(device);
  if (size_bytes == 0) throw std::invalid_argument("a buffer needs at least one byte");
  check_available(size_bytes);
  if (memory == Memory::pageable) {
    data_ = std::malloc(size_bytes);
    if (!data_) throw Unsupported("a buffer of " + std::to_string(size_bytes) + " bytes: out of memory");
    return;
  }
  data_ = map_pages(size_bytes);
  // The first thread that touches a page decides on which NUMA node it lies.
  host::Worker near(host_place(device).cores);
  near.push(
      host::Task(host::Task::Kind::work, [data = data_, size_bytes] { std::memset(data, 0, size_bytes); }));
  near.drain();
  // Without the right to lock so much the pages stay where they are anyway, unless the machine swaps.
  if (memory == Memory::pinned) mlock(data_, size_bytes);
}

Buffer::~Buffer() {
  if (!data_) return;
  if (give_back_) {
    give_back_(data_);
  } else if (memory_ == Memory::pageable) {
    std::free(data_);
  } else if (munmap(data_, whole_pages(size_bytes_)) != 0) {
    report_call("libc", "munmap", std::strerror(errno), __FILE__, __LINE__);
  }
}

}  // namespace weft
