// CUDA backend: device memory, and host memory on the NUMA node that the device hangs on.
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>

#include "core/cores.hpp"
#include "core/device_detail.hpp"
#include "core/error.hpp"
#include "core/host_memory.hpp"

namespace weft {
namespace {

/// Runs `allocate` on a core near the device: host memory lies on the node of the thread that first touches
/// it.
template <class Allocate>
void* allocate_near(int device, Allocate allocate) {
  void* data = nullptr;
  std::exception_ptr failure;
  std::thread near([&] {
    try {
      const std::vector<int> cores = usable_cores_near_pci(*device_properties(device).pci_bus_id);
      if (!cores.empty()) pin_this_thread(cores);
      data = allocate();
    } catch (...) {
      failure = std::current_exception();
    }
  });
  near.join();
  if (failure) std::rethrow_exception(failure);
  return data;
}

void* allocate(Memory memory, int device, std::size_t size_bytes) {
  // Linux promises more than it has, and ends who takes it at its word.
  if (memory != Memory::device && size_bytes > available_host_memory_bytes())
    detail::out_of_memory(memory, device, size_bytes);
  void* data = nullptr;
  if (memory == Memory::pageable) {
    data = std::malloc(size_bytes);
    if (!data) detail::out_of_memory(memory, device, size_bytes);
    std::memset(data, 0, size_bytes);
    return data;
  }
  const DeviceGuard guard(device);
  const cudaError_t status =
      memory == Memory::device
          ? cudaMalloc(&data, size_bytes)
          : cudaHostAlloc(&data, size_bytes, cudaHostAllocPortable | cudaHostAllocMapped);
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    detail::out_of_memory(memory, device, size_bytes);
  }
  check_cuda(status, memory == Memory::device ? "cudaMalloc" : "cudaHostAlloc", __FILE__, __LINE__);
  return data;
}

}  // namespace

Buffer::Buffer(Memory memory, int device, std::size_t size_bytes)
    : size_bytes_(size_bytes), memory_(memory), device_(device) {
  detail::check_device(device);
  if (size_bytes == 0) throw std::invalid_argument("a buffer needs at least one byte");
  data_ = memory == Memory::device
              ? allocate(memory, device, size_bytes)
              : allocate_near(device, [=] { return allocate(memory, device, size_bytes); });
}

Buffer::~Buffer() {
  if (!data_) return;
  if (give_back_) {
    give_back_(data_);
    return;
  }
  switch (memory_) {
  case Memory::device:
    WEFT_CUDA_REPORT(cudaFree(data_));
    return;
  case Memory::pinned:
    WEFT_CUDA_REPORT(cudaFreeHost(data_));
    return;
  case Memory::pageable:
    std::free(data_);
    return;
  }
}

}  // namespace weft
