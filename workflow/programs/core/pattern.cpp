#include "core/pattern.hpp"

#include "core/device_detail.hpp"
#include "core/tally.hpp"
#include "core/watchdog.hpp"

namespace weft {
namespace {

bool corruption = false;

/// A range of bytes seen as words; the last one may be cut short.
struct Words {
  unsigned char* begin;
  std::size_t size_bytes;

  std::size_t count() const { return (size_bytes + 7) / 8; }
  WEFT_HOST_DEVICE bool whole(std::size_t i) const {
    return 8 * i + 8 <= size_bytes && reinterpret_cast<std::uintptr_t>(begin) % 8 == 0;
  }
  WEFT_HOST_DEVICE std::uint64_t& at(std::size_t i) const {
    return *reinterpret_cast<std::uint64_t*>(begin + 8 * i);
  }
  WEFT_HOST_DEVICE std::size_t bytes_of(std::size_t i) const {
    return size_bytes - 8 * i < 8 ? size_bytes - 8 * i : 8;
  }
};

struct Fill {
  Words words;
  std::uint64_t seed;

  WEFT_HOST_DEVICE void operator()(std::size_t i) const {
    const std::uint64_t expected = pattern_word(seed, i);
    if (words.whole(i)) {
      words.at(i) = expected;
      return;
    }
    for (std::size_t byte = 0; byte < words.bytes_of(i); ++byte)
      words.begin[8 * i + byte] = static_cast<unsigned char>(expected >> (8 * byte));
  }
};

struct Compare {
  Words words;
  std::uint64_t seed;
  unsigned long long* wrong;

  WEFT_HOST_DEVICE void operator()(std::size_t i) const {
    const std::uint64_t expected = pattern_word(seed, i);
    if (words.whole(i) && words.at(i) == expected) return;
    unsigned long long differ = 0;
    for (std::size_t byte = 0; byte < words.bytes_of(i); ++byte)
      differ += words.begin[8 * i + byte] != static_cast<unsigned char>(expected >> (8 * byte));
    if (differ == 0) return;
#ifdef __CUDA_ARCH__
    atomicAdd(wrong, differ);
#else
    *wrong += differ;
#endif
  }
};

struct Flip {
  unsigned char* byte;

  WEFT_HOST_DEVICE void operator()(std::size_t) const { *byte ^= 0x10; }
};

Words words_of(const Buffer& buffer, std::size_t offset_bytes, std::size_t size_bytes) {
  const Place place{&buffer, offset_bytes};
  detail::check_place("a pattern", place, size_bytes);
  return {reinterpret_cast<unsigned char*>(place.address()), size_bytes};
}

/// Memory that a GPU cannot address is filled and checked by the host.
bool host_only(const Buffer& buffer) {
  return backend() == Backend::cuda && buffer.memory() == Memory::pageable;
}

/// Runs a functor beside the buffer.
template <class Functor>
void run_beside(const Buffer& buffer, std::size_t count, Functor functor) {
  if (host_only(buffer)) {
    for (std::size_t i = 0; i < count; ++i)
      functor(i);
    return;
  }
  Stream stream(buffer.device());
  launch(stream, count, functor);
  stream.synchronize();
}

}  // namespace

void fill_pattern(const Buffer& buffer, std::size_t offset_bytes, std::size_t size_bytes,
                  std::uint64_t seed) {
  const Activity activity("filling");
  const Words words = words_of(buffer, offset_bytes, size_bytes);
  run_beside(buffer, words.count(), Fill{words, seed});
}

std::uint64_t count_wrong_bytes(const Buffer& buffer, std::size_t offset_bytes, std::size_t size_bytes,
                                std::uint64_t seed) {
  const Activity activity("verification");
  const Words words = words_of(buffer, offset_bytes, size_bytes);
  if (corruption && size_bytes > 0) run_beside(buffer, 1, Flip{words.begin + size_bytes / 2});
  if (host_only(buffer)) {
    unsigned long long wrong = 0;
    run_beside(buffer, words.count(), Compare{words, seed, &wrong});
    return wrong;
  }
  Stream stream(buffer.device());
  Tally tally(stream);
  launch(stream, words.count(), Compare{words, seed, tally.address()});
  return tally.read();
}

void inject_corruption(bool on) { corruption = on; }

bool corruption_injected() { return corruption; }

}  // namespace weft
