// The ping-pong that latency is half of.
#pragma once

#include "pt2pt/endpoint.hpp"

namespace weft {

/// As the inner loop of osu_latency: the source sends and then receives, the other rank receives and then
/// sends, both blocking, with a buffer for each way.
inline void ping_pong(Endpoint& endpoint, int peer, bool source, std::uint64_t size_bytes,
                      std::size_t operations) {
  Transport& transport = endpoint.transport();
  const Message out = endpoint.outgoing(peer, size_bytes), in = endpoint.incoming(peer, size_bytes);
  if (source) {
    for (std::size_t i = 0; i < operations; ++i) {
      transport.send(out);
      transport.receive(in);
    }
  } else {
    for (std::size_t i = 0; i < operations; ++i) {
      transport.receive(in);
      transport.send(out);
    }
  }
}

}  // namespace weft
