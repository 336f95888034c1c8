#include "collective/data.hpp"

#include "core/pattern.hpp"
#include "core/tally.hpp"

namespace weft::collective {

namespace {

constexpr int poison = -1;

/// Element `index` of what `rank` sends.
template <class T>
WEFT_HOST_DEVICE T input(int rank, std::size_t index) {
  return static_cast<T>(pattern_word(static_cast<std::uint64_t>(rank) + 1, index) & 0xFF);
}

template <class T>
struct FillInput {
  T* elements;
  int rank;
  WEFT_HOST_DEVICE void operator()(std::size_t i) const { elements[i] = input<T>(rank, i); }
};

template <class T>
struct FillPoison {
  T* elements;
  WEFT_HOST_DEVICE void operator()(std::size_t i) const { elements[i] = static_cast<T>(poison); }
};

template <class T>
struct Alter {
  T* element;
  WEFT_HOST_DEVICE void operator()(std::size_t) const { *element += 1; }
};

template <class T>
struct Compare {
  const T* elements;
  Expectation expectation;
  std::size_t block;
  int ranks;
  Reduction reduction;
  unsigned long long* wrong;

  WEFT_HOST_DEVICE T reduced(std::size_t index) const {
    T result = input<T>(0, index);
    for (int rank = 1; rank < ranks; ++rank) {
      const T next = input<T>(rank, index);
      if (reduction == Reduction::sum)
        result += next;
      else if ((reduction == Reduction::max) == (next > result))
        result = next;
    }
    return result;
  }

  WEFT_HOST_DEVICE void operator()(std::size_t i) const {
    const std::size_t index = (expectation.by_block ? i % block : i) + expectation.offset;
    const int peer = expectation.by_block ? static_cast<int>(i / block) : expectation.peer;
    const T expected = expectation.reduced ? reduced(index) : input<T>(peer, index);
    if (elements[i] == expected) return;
#ifdef __CUDA_ARCH__
    atomicAdd(wrong, 1ull);
#else
    ++*wrong;
#endif
  }
};

/// Calls `action` with a null pointer of the element type.
template <class Action>
void with_type(Datatype datatype, Action action) {
  switch (datatype) {
  case Datatype::float32:
    return action(static_cast<float*>(nullptr));
  case Datatype::float64:
    return action(static_cast<double*>(nullptr));
  case Datatype::int32:
    return action(static_cast<std::int32_t*>(nullptr));
  }
}

}  // namespace

void fill_input(Stream& stream, void* elements, std::size_t count, Datatype datatype, int rank) {
  with_type(datatype, [&](auto* typed) {
    using T = std::remove_pointer_t<decltype(typed)>;
    launch(stream, count, FillInput<T>{static_cast<T*>(elements), rank});
  });
}

void fill_poison(Stream& stream, void* elements, std::size_t count, Datatype datatype) {
  with_type(datatype, [&](auto* typed) {
    using T = std::remove_pointer_t<decltype(typed)>;
    launch(stream, count, FillPoison<T>{static_cast<T*>(elements)});
  });
}

std::uint64_t count_wrong_elements(const Call& call, const Expectation& expectation, std::size_t count,
                                   int device) {
  Stream stream(device);
  Tally tally(stream);
  with_type(call.datatype, [&](auto* typed) {
    using T = std::remove_pointer_t<decltype(typed)>;
    auto* elements = static_cast<T*>(call.receive);
    if (corruption_injected()) launch(stream, 1, Alter<T>{elements});
    launch(stream, count,
           Compare<T>{elements, expectation, call.count, call.ranks, call.reduction, tally.address()});
  });
  return tally.read();
}

}  // namespace weft::collective
