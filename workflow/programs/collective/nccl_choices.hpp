// What NCCL is told to use: its algorithm, protocol and transport, by the variables that it reads once in a
// process.
#pragma once

#include <optional>
#include <string>

#include "collective/operation.hpp"

namespace weft::collective {

enum class Algorithm { automatic, ring, tree };
constexpr const char* algorithm_names[] = {"auto", "ring", "tree"};

enum class Protocol { automatic, simple, ll, ll128 };
constexpr const char* protocol_names[] = {"auto", "simple", "ll", "ll128"};

enum class Transport { automatic, p2p, shm, socket };
constexpr const char* transport_names[] = {"auto", "p2p", "shm", "socket"};

/// How many processes drive the devices of a node.
enum class Processes { one_per_device, one };
constexpr const char* processes_names[] = {"one_per_device", "one"};

struct NcclChoices {
  Algorithm algorithm = Algorithm::automatic;
  Protocol protocol = Protocol::automatic;
  Transport transport = Transport::automatic;

  /// Sets NCCL's variables in this process; those of a choice left to NCCL stay as they are. Call before
  /// NCCL is.
  void set_variables() const;
};

/// Why NCCL has no such operation; empty where it has. Known from its documentation, so that it is not found
/// out by an error: a variable that does not fit makes some versions fail and others choose for themselves.
std::optional<std::string> nccl_lacks(const Operation& operation, const NcclChoices& choices, int nodes);

}  // namespace weft::collective
