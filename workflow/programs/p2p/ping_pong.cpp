#include "p2p/ping_pong.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <new>

#if WEFT_BACKEND_CUDA
#include <cuda/atomic>
#endif

#include "core/error.hpp"
#include "core/pattern.hpp"

namespace weft {

namespace {

#if WEFT_BACKEND_CUDA

using Flag = cuda::atomic<std::uint32_t, cuda::thread_scope_system>;
constexpr auto relaxed = cuda::memory_order_relaxed;

WEFT_HOST_DEVICE std::uint64_t clock_ns() {
#ifdef __CUDA_ARCH__
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#else
  return 0;
#endif
}

#else

using Flag = std::atomic<std::uint32_t>;
constexpr auto relaxed = std::memory_order_relaxed;

std::uint64_t clock_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

#endif

constexpr std::uint32_t warm_up_round_trips = 16;

/// What the starting side writes at its end; 0 round trips when it gave up.
struct Outcome {
  std::uint64_t round_trips, time_ns;
};

WEFT_HOST_DEVICE bool wait_for(const Flag* flag, std::uint32_t value, std::uint64_t patience_ns) {
  constexpr int polls_between_looks = 4096;
  for (std::uint64_t deadline_ns = 0;;) {
    for (int poll = 0; poll < polls_between_looks; ++poll) {
      if (flag->load(relaxed) == value) return true;
    }
    const std::uint64_t now_ns = clock_ns();
    if (deadline_ns == 0) deadline_ns = now_ns + patience_ns;
    if (now_ns > deadline_ns) return false;
  }
}

struct Start {
  Flag *mine, *theirs;
  std::uint32_t last, round_trips;
  std::uint64_t patience_ns;
  Outcome* outcome;

  WEFT_HOST_DEVICE void operator()(std::size_t) const {
    std::uint64_t start_ns = 0;
    for (std::uint32_t i = 0; i < round_trips; ++i) {
      if (i == warm_up_round_trips) start_ns = clock_ns();
      const std::uint32_t value = last + 1 + i;
      theirs->store(value, relaxed);
      if (!wait_for(mine, value, patience_ns)) return;
    }
    *outcome = {round_trips, clock_ns() - start_ns};
  }
};

struct Answer {
  Flag *mine, *theirs;
  std::uint32_t last, round_trips;
  std::uint64_t patience_ns;

  WEFT_HOST_DEVICE void operator()(std::size_t) const {
    for (std::uint32_t i = 0; i < round_trips; ++i) {
      const std::uint32_t value = last + 1 + i;
      if (!wait_for(mine, value, patience_ns)) return;
      theirs->store(value, relaxed);
    }
  }
};

struct Clear {
  Flag* flag;

  WEFT_HOST_DEVICE void operator()(std::size_t) const { new (flag) Flag{0}; }
};

}  // namespace

const char* const PingPong::timer = backend() == Backend::cuda ? "device_clock" : "host_clock";

PingPong::PingPong(int starter, int answerer, double patience_s)
    : starter_flag_(Memory::device, starter, sizeof(Flag)),
      answerer_flag_(Memory::device, answerer, sizeof(Flag)),
      outcome_(Memory::pinned, starter, sizeof(Outcome)), starter_(starter), answerer_(answerer),
      patience_ns_(static_cast<std::uint64_t>(1e9 * patience_s)) {
  launch(starter_, 1, Clear{starter_flag_.as<Flag>()});
  launch(answerer_, 1, Clear{answerer_flag_.as<Flag>()});
  starter_.synchronize();
  answerer_.synchronize();
  // A kernel that is loaded at its first use may wait for one that already runs, and that one for its flag.
  play(0);
}

double PingPong::time(std::size_t round_trips) {
  const auto all = static_cast<std::uint32_t>(round_trips + warm_up_round_trips);
  play(all);
  const auto& outcome = *outcome_.as<Outcome>();
  if (outcome.round_trips != all)
    throw CallError("p2p", "PingPong::time", "a device gave up waiting for the flag of the other", __FILE__,
                    __LINE__);
  return 1e-9 * static_cast<double>(std::max<std::uint64_t>(outcome.time_ns, 1));
}

void PingPong::play(std::uint32_t round_trips) {
  Flag *starter_flag = starter_flag_.as<Flag>(), *answerer_flag = answerer_flag_.as<Flag>();
  auto* outcome = outcome_.as<Outcome>();
  *outcome = {};
  launch(starter_, 1, Start{starter_flag, answerer_flag, last_, round_trips, patience_ns_, outcome});
  launch(answerer_, 1, Answer{answerer_flag, starter_flag, last_, round_trips, patience_ns_});
  starter_.synchronize();
  answerer_.synchronize();
  last_ += round_trips;
}

std::uint64_t PingPong::wrong_bytes() {
  Buffer seen(Memory::pinned, starter_.device(), 2 * sizeof last_);
  copy(starter_, {&seen, 0}, {&starter_flag_, 0}, sizeof last_);
  copy(answerer_, {&seen, sizeof last_}, {&answerer_flag_, 0}, sizeof last_);
  starter_.synchronize();
  answerer_.synchronize();
  auto* bytes = seen.as<unsigned char>();
  if (corruption_injected()) bytes[0] ^= 1;
  unsigned char expected[sizeof last_];
  std::memcpy(expected, &last_, sizeof last_);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < seen.size_bytes(); ++i)
    wrong += bytes[i] != expected[i % sizeof last_];
  return wrong;
}

}  // namespace weft
