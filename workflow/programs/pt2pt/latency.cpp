// pt2pt.latency: half of a ping-pong, as osu_latency (OSU Micro-Benchmarks 7,
// c/mpi/pt2pt/standard/osu_latency.c): latency = time / (2 x iterations).
#include "pt2pt/cases.hpp"
#include "pt2pt/ping_pong.hpp"

namespace weft {

namespace {

std::vector<Case> cases(const Run& run) {
  const Exercise exercise{ping_pong, true, 0.5, 1};
  return pair_cases(run, exercise, true, std::nullopt);
}

const Registered registered{{"latency", "Half of a ping-pong between two ranks, as osu_latency measures it.",
                             message_axes(false, true), cases}};

}  // namespace

}  // namespace weft
