// CUDA: the copy kernel, whose subject is the hardware itself: how wide loads and stores are, and how many of
// them a thread has on their way.
#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>

#include "p2p/copy_kernel.hpp"

namespace weft {

namespace {

/// A block copies tiles of `unroll` words for each of its threads. The loads of a tile do not wait for each
/// other: the latency of the link is paid once for all of them.
template <unsigned unroll>
__global__ void __launch_bounds__(most_threads)
    copy_words(uint4* destination, const uint4* source, std::size_t words, std::size_t tail_bytes) {
  const std::size_t tile = static_cast<std::size_t>(blockDim.x) * unroll;
  const std::size_t step = tile * gridDim.x;
  std::size_t first = tile * blockIdx.x + threadIdx.x;
  const std::size_t block_end = tile * (blockIdx.x + 1);
  std::size_t end = block_end;
  uint4 held[unroll];
  for (; end <= words; first += step, end += step) {
#pragma unroll
    for (unsigned i = 0; i < unroll; ++i)
      held[i] = source[first + i * blockDim.x];
#pragma unroll
    for (unsigned i = 0; i < unroll; ++i)
      destination[first + i * blockDim.x] = held[i];
  }
  if (end - tile < words) {  // the last tile, which is not whole
#pragma unroll
    for (unsigned i = 0; i < unroll; ++i)
      if (first + i * blockDim.x < words) held[i] = source[first + i * blockDim.x];
#pragma unroll
    for (unsigned i = 0; i < unroll; ++i)
      if (first + i * blockDim.x < words) destination[first + i * blockDim.x] = held[i];
  }
  if (blockIdx.x == 0 && threadIdx.x < tail_bytes)
    reinterpret_cast<unsigned char*>(destination + words)[threadIdx.x] =
        reinterpret_cast<const unsigned char*>(source + words)[threadIdx.x];
}

using Kernel = void (*)(uint4*, const uint4*, std::size_t, std::size_t);

struct Variant {
  unsigned unroll;
  Kernel kernel;
};

constexpr std::array<Variant, 5> variants{
    {{1, copy_words<1>}, {2, copy_words<2>}, {4, copy_words<4>}, {8, copy_words<8>}, {16, copy_words<16>}}};
static_assert(variants.size() == std::size(unrolls));

const bool preloaded = [] {
  for (const Variant& variant : variants)
    preload_kernel(variant.kernel);
  return true;
}();

}  // namespace

void copy_by_kernel(Stream& stream, Place destination, Place source, std::size_t size_bytes,
                    const KernelGrid& grid) {
  const KernelGrid fit = fitting_grid(grid, size_bytes);
  const auto variant = std::find_if(variants.begin(), variants.end(),
                                    [&](const Variant& each) { return each.unroll == fit.unroll; });
  if (variant == variants.end()) throw std::logic_error("no copy kernel has this unroll");
  const DeviceGuard guard(stream.device());
  variant->kernel<<<fit.blocks, fit.threads, 0, native(stream)>>>(
      reinterpret_cast<uint4*>(destination.address()), reinterpret_cast<const uint4*>(source.address()),
      size_bytes / sizeof(uint4), size_bytes % sizeof(uint4));
  WEFT_CUDA(cudaGetLastError());
}

}  // namespace weft
