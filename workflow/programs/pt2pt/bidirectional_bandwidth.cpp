// pt2pt.bidirectional_bandwidth: windows of messages both ways at once, as osu_bibw (OSU Micro-Benchmarks 7,
// c/mpi/pt2pt/standard/osu_bibw.c): both ranks post a window of receives, start a window of sends and wait
// for all; no reply; bandwidth = 2 x window x size x iterations / time.
#include "pt2pt/cases.hpp"

namespace weft {

namespace {

void exchange_windows(Endpoint& endpoint, int peer, std::uint64_t size_bytes, int window,
                      std::size_t operations) {
  Transport& transport = endpoint.transport();
  const Message out = endpoint.outgoing(peer, size_bytes), in = endpoint.incoming(peer, size_bytes);
  for (std::size_t i = 0; i < operations; ++i) {
    for (int message = 0; message < window; ++message)
      transport.start_receive(in);
    for (int message = 0; message < window; ++message)
      transport.start_send(out);
    transport.finish();
  }
}

std::vector<Case> cases(const Run& run) {
  const int window = window_of(run);
  const auto exchange = [window](Endpoint& endpoint, int peer, bool, std::uint64_t size_bytes,
                                 std::size_t operations) {
    exchange_windows(endpoint, peer, size_bytes, window, operations);
  };
  const Exercise exercise{exchange, true, 1.0, 2 * static_cast<std::size_t>(window)};
  return pair_cases(run, exercise, true, window);
}

const Registered registered{
    {"bidirectional_bandwidth",
     "A window of messages in flight each way between two ranks, the sum of both, as osu_bibw "
     "measures it.",
     message_axes(true, true), cases}};

}  // namespace

}  // namespace weft
