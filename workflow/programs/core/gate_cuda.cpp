// CUDA backend: the start gate, a kernel on every held stream that polls a word of host memory.
#include <memory>
#include <mutex>
#include <new>

#include "core/device_detail.hpp"
#include "core/error.hpp"

namespace weft {
namespace {

/// A gate's words in host memory that every device polls. A slot is used by one gate after another: the words
/// hold the generation last opened or timed out, so that a late kernel of an earlier gate cannot be held by a
/// later one.
struct alignas(128) Slot {
  volatile unsigned opened;
  volatile unsigned timed_out;
  unsigned generation;
};

__global__ void hold_at_gate(Slot* slot, unsigned generation, unsigned long long timeout_ns) {
  unsigned long long begin_ns, now_ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin_ns));
  while (static_cast<int>(slot->opened - generation) < 0) {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now_ns));
    if (now_ns - begin_ns > timeout_ns) {
      slot->timed_out = generation;
      __threadfence_system();
      return;
    }
  }
}

const bool preloaded = preload_kernel(hold_at_gate);

/// Slots are never freed: a call that frees pinned memory waits for every device, and at exit CUDA may be
/// gone already.
class Slots {
 public:
  Slot* take() {
    std::lock_guard lock(mutex_);
    if (free_.empty()) allocate();
    Slot* slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give_back(Slot* slot) noexcept {
    std::lock_guard lock(mutex_);
    free_.push_back(slot);  // within the capacity reserved by allocate()
  }

 private:
  void allocate() {
    constexpr std::size_t count = 32;
    allocated_ += count;
    free_.reserve(allocated_);
    void* block = nullptr;
    WEFT_CUDA(cudaHostAlloc(&block, count * sizeof(Slot), cudaHostAllocPortable | cudaHostAllocMapped));
    for (std::size_t i = 0; i < count; ++i)
      free_.push_back(new (static_cast<Slot*>(block) + i) Slot{0, 0, 0});
  }

  std::mutex mutex_;
  std::vector<Slot*> free_;
  std::size_t allocated_ = 0;
};

Slots& slots() {
  static Slots all;
  return all;
}

}  // namespace

struct Gate::Implementation {
  explicit Implementation(double timeout_s)
      : slot(slots().take()), generation(++slot->generation), timeout_s(timeout_s) {}
  ~Implementation() {
    slot->opened = generation;
    slots().give_back(slot);
  }

  Slot* slot;
  unsigned generation;
  double timeout_s;
};

Gate::Gate(double timeout_s) : implementation_(std::make_unique<Implementation>(timeout_s)) {}
Gate::~Gate() = default;

void Gate::hold(Stream& stream) {
  const DeviceGuard guard(stream.device());
  const auto timeout_ns = static_cast<unsigned long long>(1e9 * implementation_->timeout_s);
  hold_at_gate<<<1, 1, 0, native(stream)>>>(implementation_->slot, implementation_->generation, timeout_ns);
  WEFT_CUDA(cudaGetLastError());
}

void Gate::open() {
  implementation_->slot->opened = implementation_->generation;
  check();
}

void Gate::check() const {
  if (implementation_->slot->timed_out != implementation_->generation) return;
  throw CallError("Weft", "Gate", detail::gate_timeout_words(implementation_->timeout_s), __FILE__, __LINE__);
}

// A channel takes about a thousand launches before the host blocks; several streams of a device may share
// one.
std::size_t gate_depth() { return 512; }

}  // namespace weft
