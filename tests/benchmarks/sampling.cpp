// What the sampler adds to a bare loop: the batches are bare loops, and all that passes outside of them is
// the sampler's. sampling [OPERATION_S...] prints a JSON object per duration of an operation, default 1e-7,
// 1e-5 and 1e-3 s.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>
#include <time.h>
#include <vector>

#include "core/json.hpp"
#include "core/sampler.hpp"

using namespace weft;

namespace {

constexpr int rounds = 11;
constexpr double round_s = 0.3;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Work of a fixed amount that no compiler can leave out; a step is about a nanosecond.
void work(std::size_t steps) {
  for (std::size_t step = 0; step < steps; ++step)
    asm volatile("" ::"r"(step) : "memory");
}

double loop_s(std::size_t steps, std::size_t operations) {
  const double start_s = now_s();
  for (std::size_t i = 0; i < operations; ++i)
    work(steps);
  return now_s() - start_s;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return median(values);
}

Json compare(double operation_s) {
  constexpr std::size_t trial = 1 << 24;
  const double step_s = loop_s(trial, 1) / trial;
  const auto steps = static_cast<std::size_t>(std::max(1.0, operation_s / step_s));
  SamplerOptions options;
  options.precision = 1e-9;  // never reached: the budget ends it
  options.budget_s = round_s;
  options.max_samples = 1 << 30;
  Team alone;
  std::vector<double> ratios;
  std::size_t samples = 0;
  for (int round = 0; round < rounds; ++round) {
    double in_loops_s = 0;
    const auto batch = [&](std::size_t operations) {
      const double time_s = loop_s(steps, operations);
      in_loops_s += time_s;
      return time_s;
    };
    const double start_s = now_s();
    samples = sample(options, batch, alone).samples;
    ratios.push_back((now_s() - start_s) / in_loops_s);
  }
  return Json::object({{"benchmark", "sampling"},
                       {"operation_s", operation_s},
                       {"rounds", rounds},
                       {"samples", samples},
                       {"ratio", median_of(ratios)}});
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> durations(argv + 1, argv + argc);
  if (durations.empty()) durations = {"1e-7", "1e-5", "1e-3"};
  for (const std::string& duration : durations)
    std::cout << compare(std::stod(duration)).dump() << std::endl;
}
