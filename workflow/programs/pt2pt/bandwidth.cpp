// pt2pt.bandwidth: windows of messages one way, as osu_bw (OSU Micro-Benchmarks 7,
// c/mpi/pt2pt/standard/osu_bw.c): bandwidth = window x size x iterations / time, the time from the first
// start to the last reply.
#include "pt2pt/cases.hpp"
#include "pt2pt/window.hpp"

namespace weft {

namespace {

std::vector<Case> cases(const Run& run) {
  const int window = window_of(run);
  const auto stream = [window](Endpoint& endpoint, int peer, bool source, std::uint64_t size_bytes,
                               std::size_t operations) {
    send_windows(endpoint, peer, source, size_bytes, window, operations);
  };
  const Exercise exercise{stream, false, 1.0, static_cast<std::size_t>(window)};
  return pair_cases(run, exercise, false, window);
}

const Registered registered{
    {"bandwidth",
     "A window of messages in flight from one rank to another, ended by a reply, as osu_bw "
     "measures it.",
     message_axes(true, true), cases}};

}  // namespace

}  // namespace weft
