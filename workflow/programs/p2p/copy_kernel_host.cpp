// Host backend: the twin of the copy kernel, a loop of the stream's worker.
#include <cstdint>

#include "core/error.hpp"
#include "p2p/copy_kernel.hpp"

namespace weft {

namespace {

struct alignas(16) Word {
  std::uint64_t low, high;
};

/// Index i < words copies a word, the following ones a byte each.
struct CopyWords {
  std::byte* destination;
  const std::byte* source;
  std::size_t words;

  void operator()(std::size_t i) const {
    if (i < words) {
      reinterpret_cast<Word*>(destination)[i] = reinterpret_cast<const Word*>(source)[i];
    } else {
      const std::size_t byte = words * sizeof(Word) + (i - words);
      destination[byte] = source[byte];
    }
  }
};

}  // namespace

void copy_by_kernel(Stream& stream, Place destination, Place source, std::size_t size_bytes,
                    const KernelGrid& grid) {
  if (grid.blocks * grid.threads * grid.unroll != 1)
    throw Unsupported(
        "the host backend's copy kernel is one thread, which no other grid than 1x1x1 describes");
  const std::size_t words = size_bytes / sizeof(Word);
  launch(stream, words + size_bytes % sizeof(Word),
         CopyWords{destination.address(), source.address(), words});
}

}  // namespace weft
