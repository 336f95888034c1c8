// CUDA backend of the device layer. Included by core/device.hpp only.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <type_traits>

#include "core/cores.hpp"

/// Throws CallError when a call of the CUDA runtime fails; the twin for destructors reports it and goes on.
#define WEFT_CUDA(call) ::weft::check_cuda((call), #call, __FILE__, __LINE__)
#define WEFT_CUDA_REPORT(call) ::weft::report_cuda((call), #call, __FILE__, __LINE__)

namespace weft {

void check_cuda(cudaError_t status, const char* call, const char* file, int line);
void report_cuda(cudaError_t status, const char* call, const char* file, int line) noexcept;

/// Makes a device the calling thread's current one while it lives.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int previous_ = 0, device_ = 0;
};

struct Stream::Implementation {
  explicit Implementation(int device);
  ~Implementation();

  int device;
  int multiprocessors = 0;
  cudaStream_t stream = nullptr;
  bool capturing = false;
};

/// For libraries that take a CUDA stream.
inline cudaStream_t native(const Stream& stream) { return stream.implementation().stream; }

/// Has the kernel loaded on a device before the first stream is made there: a kernel that is loaded on first
/// use may wait for the device, which behind a gate means for ever. launch() does this for its own; use it in
/// a static initialiser for kernels launched otherwise: `static const bool preloaded =
/// preload_kernel(my_kernel);`
bool preload_kernel_address(const void* kernel);
template <class Kernel>
bool preload_kernel(Kernel* kernel) {
  return preload_kernel_address(reinterpret_cast<const void*>(kernel));
}

namespace detail {

constexpr unsigned threads_per_block = 256;
constexpr unsigned blocks_per_multiprocessor = 8;

template <class Functor>
__global__ void __launch_bounds__(threads_per_block) run_functor(std::size_t count, Functor functor) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    functor(i);
}

template <class Functor>
struct Preloaded {
  static inline const bool done = preload_kernel(run_functor<Functor>);
};

}  // namespace detail

template <class Functor>
void launch(Stream& stream, std::size_t count, Functor functor) {
  static_assert(std::is_trivially_copyable_v<Functor>,
                "a kernel's functor is copied to the device byte by byte");
  static_cast<void>(detail::Preloaded<Functor>::done);
  if (count == 0) return;
  const Stream::Implementation& queue = stream.implementation();
  const DeviceGuard guard(queue.device);
  const std::size_t blocks = std::min<std::size_t>(
      (count + detail::threads_per_block - 1) / detail::threads_per_block,
      static_cast<std::size_t>(queue.multiprocessors) * detail::blocks_per_multiprocessor);
  detail::run_functor<<<static_cast<unsigned>(blocks), detail::threads_per_block, 0, queue.stream>>>(count,
                                                                                                     functor);
  WEFT_CUDA(cudaGetLastError());
}

}  // namespace weft
