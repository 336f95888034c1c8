// What weft::sample adds to a bare loop: a short operation of fixed work, as often as the sampler ran it,
// with nothing around it. sampler_overhead [SAMPLES...] prints a JSON object per number of samples,
// default 40.
//
// The time is the processor's for this thread: what other programs do in the meantime is not overhead.
#include <chrono>
#include <cstdint>
#include <iostream>
#include <time.h>

#include "comparison.hpp"
#include "core/sampler.hpp"

using namespace weft;

namespace {

constexpr double together_s = 5;
constexpr int least_rounds = 21, most_rounds = 401;
constexpr int steps = 64;

double thread_time_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Steps of a generator, each of which needs the one before: some 100 ns.
inline std::uint64_t operation(std::uint64_t state) {
  for (int step = 0; step < steps; ++step) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    asm volatile("" : "+r"(state));
  }
  return state;
}

[[gnu::noinline]] void loop(std::size_t operations) {
  static std::uint64_t state = 1;
  std::uint64_t here = state;
  for (std::size_t i = 0; i < operations; ++i)
    here = operation(here);
  state = here;
}

Json compare(std::size_t samples) {
  SamplerOptions options;
  options.precision = 0;  // never enough, so that each round takes all samples and looks at them in between
  options.max_samples = samples;
  options.budget_s = 1e9;
  Team alone;
  const Batch batch = [](std::size_t operations) {
    const auto start = std::chrono::steady_clock::now();
    loop(operations);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::size_t operations = 0;
  const auto sampled_s = [&] {
    const double start_s = thread_time_s();
    operations = sample(options, batch, alone).operations_total;
    return (thread_time_s() - start_s) / static_cast<double>(operations);
  };
  const auto bare_s = [&] {
    const double start_s = thread_time_s();
    loop(operations);
    return (thread_time_s() - start_s) / static_cast<double>(operations);
  };
  const double round_s = 2 * sampled_s() * static_cast<double>(operations);
  const int rounds = std::clamp(static_cast<int>(together_s / round_s), least_rounds, most_rounds);
  return Json::object({{"benchmark", "sampler_overhead"}, {"samples", samples}})
      .merge(compare_in_turn(rounds, bare_s, sampled_s).json());
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::size_t samples : numbers(argc, argv, 40))
    std::cout << compare(samples).dump() << std::endl;
}
