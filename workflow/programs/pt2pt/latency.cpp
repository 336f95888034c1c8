// pt2pt.latency: half of a ping-pong, as osu_latency (OSU Micro-Benchmarks 7,
// c/mpi/pt2pt/standard/osu_latency.c): the first rank sends and then receives, the second receives and then
// sends, both blocking, with separate buffers for the two ways; latency = time / (2 x iterations).
#include "pt2pt/cases.hpp"

namespace weft {

namespace {

void ping_pong(Endpoint& endpoint, int peer, bool source, std::uint64_t size_bytes, std::size_t operations) {
  Transport& transport = endpoint.transport();
  const Message ping = endpoint.outgoing(peer, size_bytes), pong = endpoint.incoming(peer, size_bytes);
  if (source) {
    for (std::size_t i = 0; i < operations; ++i) {
      transport.send(ping);
      transport.receive(pong);
    }
  } else {
    for (std::size_t i = 0; i < operations; ++i) {
      transport.receive(pong);
      transport.send(ping);
    }
  }
}

std::vector<Case> cases(const Run& run) {
  const Exercise exercise{ping_pong, true, 0.5, 1};
  return pair_cases(run, exercise, true, std::nullopt);
}

const Registered registered{{"latency", "Half of a ping-pong between two ranks, as osu_latency measures it.",
                             message_axes(false, true), cases}};

}  // namespace

}  // namespace weft
