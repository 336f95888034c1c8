#include "collective/nccl_choices.hpp"

#include <cstdlib>

namespace weft::collective {

static void set(const char* name, const char* value) { ::setenv(name, value, /*overwrite=*/1); }

void NcclChoices::set_variables() const {
  constexpr const char* algorithms[] = {nullptr, "Ring", "Tree"};
  constexpr const char* protocols[] = {nullptr, "Simple", "LL", "LL128"};
  if (algorithm != Algorithm::automatic) set("NCCL_ALGO", algorithms[static_cast<int>(algorithm)]);
  if (protocol != Protocol::automatic) set("NCCL_PROTO", protocols[static_cast<int>(protocol)]);
  if (transport == Transport::automatic) return;
  // NCCL takes the first that it may of P2P, shared memory and the network.
  set("NCCL_P2P_DISABLE", transport == Transport::p2p ? "0" : "1");
  set("NCCL_SHM_DISABLE", transport == Transport::shm ? "0" : "1");
  if (transport == Transport::p2p) set("NCCL_P2P_LEVEL", "SYS");
  if (transport == Transport::socket) set("NCCL_NET", "Socket");
}

std::optional<std::string> nccl_lacks(const Operation& operation, const NcclChoices& choices, int nodes) {
  const std::string key = operation.key;
  const bool chosen = choices.algorithm != Algorithm::automatic || choices.protocol != Protocol::automatic;
  if (chosen && operation.nccl_algorithms == NcclAlgorithms::none)
    return "NCCL makes " + key + " of sends and receives, which have neither algorithms nor protocols";
  if (choices.algorithm == Algorithm::tree && operation.nccl_algorithms != NcclAlgorithms::ring_and_tree)
    return "NCCL has no tree for " + key + ", but for all_reduce alone";
  if (nodes > 1 && (choices.transport == Transport::p2p || choices.transport == Transport::shm))
    return std::string("NCCL's transport ") + transport_names[static_cast<int>(choices.transport)] +
           " ends at a node, and the ranks are on " + std::to_string(nodes);
  return std::nullopt;
}

}  // namespace weft::collective
