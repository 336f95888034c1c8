// A window of messages one way, ended by a reply: what bandwidth and message rate repeat.
#pragma once

#include "pt2pt/endpoint.hpp"

namespace weft {

/// As the inner loop of osu_bw and osu_mbw_mr: the sender starts the whole window and waits for it, then
/// receives a reply of four bytes; the receiver posts the whole window, waits for it and replies. All
/// messages use one buffer.
inline void send_windows(Endpoint& endpoint, int peer, bool source, std::uint64_t size_bytes, int window,
                         std::size_t operations) {
  Transport& transport = endpoint.transport();
  const Message out = endpoint.outgoing(peer, size_bytes), in = endpoint.incoming(peer, size_bytes);
  for (std::size_t i = 0; i < operations; ++i) {
    for (int message = 0; message < window; ++message)
      source ? transport.start_send(out) : transport.start_receive(in);
    transport.finish();
    source ? transport.receive_reply(peer) : transport.send_reply(peer);
  }
}

}  // namespace weft
