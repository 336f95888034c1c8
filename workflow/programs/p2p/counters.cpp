#include "p2p/counters.hpp"

#include "core/pattern.hpp"

namespace weft {

namespace {

using Word = unsigned long long;

constexpr std::size_t spread_bytes = 128;
constexpr std::size_t threads_of_host = 1024;
constexpr std::size_t threads_of_multiprocessor = 2048;

std::size_t threads_of(int adder) {
  const auto multiprocessors = device_properties(adder).multiprocessors;
  return multiprocessors ? threads_of_multiprocessor * static_cast<std::size_t>(*multiprocessors)
                         : threads_of_host;
}

/// From the word of a thread to that of the next, in words.
std::size_t stride_of(Addresses addresses) {
  if (addresses == Addresses::one) return 0;
  return addresses == Addresses::neighbouring ? 1 : spread_bytes / sizeof(Word);
}

WEFT_HOST_DEVICE Word add_one(Word* word) {
#ifdef __CUDA_ARCH__
  return atomicAdd_system(word, Word{1});
#else
  return __atomic_fetch_add(word, Word{1}, __ATOMIC_RELAXED);
#endif
}

/// That all threads may have one word is not known when this is compiled, so that no compiler adds up the
/// ones of a warp.
template <bool want_results>
struct Add {
  Word* words;
  std::size_t stride;
  Word* sums;

  WEFT_HOST_DEVICE void operator()(std::size_t thread) const {
    Word* word = words + thread * stride;
    Word sum = 0;
    for (std::size_t i = 0; i < Counters::adds_per_thread; ++i) {
      if (want_results)
        sum += add_one(word);
      else
        add_one(word);
    }
    if (want_results) sums[thread] += sum;
  }
};

struct Clear {
  Word* words;

  WEFT_HOST_DEVICE void operator()(std::size_t i) const { words[i] = 0; }
};

void clear(const Buffer& buffer) {
  Stream stream(buffer.device());
  launch(stream, buffer.size_bytes() / sizeof(Word), Clear{buffer.as<Word>()});
  stream.synchronize();
}

Buffer seen_by_host(const Buffer& buffer) {
  Buffer seen(Memory::pinned, buffer.device(), buffer.size_bytes());
  Stream stream(buffer.device());
  copy(stream, {&seen}, {&buffer}, buffer.size_bytes());
  stream.synchronize();
  return seen;
}

/// 0 + 1 + ... + (count - 1), modulo 2^64 as the sums are.
Word sum_below(Word count) { return count % 2 ? (count - 1) / 2 * count : count / 2 * (count - 1); }

}  // namespace

std::size_t Counters::bytes_of(int adder, Addresses addresses) {
  return ((threads_of(adder) - 1) * stride_of(addresses) + 1) * sizeof(Word);
}

Counters::Counters(int adder, int holder, Addresses addresses, bool want_results)
    : threads_(threads_of(adder)), stride_(stride_of(addresses)), want_results_(want_results),
      words_(Memory::device, holder, bytes_of(adder, addresses)),
      sums_(Memory::device, adder, threads_ * sizeof(Word)), stream_(adder) {
  clear(words_);
  clear(sums_);
}

Lane Counters::lane() {
  return {&stream_, [this](std::size_t) { enqueue(); }};
}

void Counters::enqueue() {
  Word *words = words_.as<Word>(), *sums = sums_.as<Word>();
  if (want_results_)
    launch(stream_, threads_, Add<true>{words, stride_, sums});
  else
    launch(stream_, threads_, Add<false>{words, stride_, sums});
}

std::uint64_t Counters::wrong(std::size_t operations) {
  const Buffer words = seen_by_host(words_), sums = seen_by_host(sums_);
  if (corruption_injected()) words.as<Word>()[0] ^= 1;
  const Word adds = Word{adds_per_thread} * operations;
  const bool one = stride_ == 0;
  const Word per_word = one ? adds * threads_ : adds;
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < (one ? 1 : threads_); ++i)
    wrong += words.as<Word>()[i * stride_] != per_word;
  // Every word went through all values below its last, and each of them was some thread's result.
  Word sum = 0;
  for (std::size_t i = 0; i < threads_; ++i)
    sum += sums.as<Word>()[i];
  const Word expected = one ? sum_below(per_word) : threads_ * sum_below(per_word);
  return wrong + (sum != (want_results_ ? expected : 0));
}

}  // namespace weft
