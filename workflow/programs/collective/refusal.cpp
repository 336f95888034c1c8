#include "collective/refusal.hpp"

#include <climits>
#include <set>

#include "core/error.hpp"

namespace weft::collective {

int mpi_count(std::size_t count) {
  if (count > INT_MAX)
    throw Unsupported("MPI counts elements in an int, which ends at 2147483647, and a block here has " +
                      std::to_string(count));
  return static_cast<int>(count);
}

std::optional<std::string> mpi_refusal(const Operation& operation, bool in_place, bool graph,
                                       const World& world) {
  if (graph) return "the host makes MPI's calls, so that no CUDA graph can hold them";
  if (!world.takes_device_buffers()) return "this MPI library takes no device buffers (it is not CUDA-aware)";
  if (const char* words = operation.mpi_refuses(in_place)) return words;
  return std::nullopt;
}

/// NCCL wants a device of its own for each rank.
static std::optional<std::string> shared_device(const World& world, const std::vector<Member>& members) {
  std::set<std::pair<std::string, int>> taken;
  for (const Member& member : members)
    if (!taken.emplace(world.host(member.process), member.device).second)
      return "rank " + std::to_string(member.rank) + " shares device " + std::to_string(member.device) +
             " of " + world.host(member.process) + " with another, and NCCL wants a device for each";
  return std::nullopt;
}

/// All of one node, or nccl_lacks has refused.
static std::optional<std::string> without_peer_access(const std::vector<Member>& members) {
  for (const Member& one : members)
    for (const Member& other : members)
      if (!can_access_peer(one.device, other.device))
        return "NCCL's transport p2p needs peer access, which device " + std::to_string(one.device) +
               " does not have to device " + std::to_string(other.device);
  return std::nullopt;
}

std::optional<std::string> nccl_refusal(const Operation& operation, bool in_place, const NcclChoices& choices,
                                        const World& world, const std::vector<Member>& members) {
  if (auto words = nccl_lacks(operation, choices, nodes_of(world, members))) return words;
  if (backend() != Backend::cuda) return "this program was built without NCCL (host backend)";
  if (const char* words = operation.nccl_refuses(in_place)) return words;
  if (auto words = shared_device(world, members)) return words;
  return choices.transport == Transport::p2p ? without_peer_access(members) : std::nullopt;
}

int nodes_of(const World& world, const std::vector<Member>& members) {
  std::set<std::string> hosts;
  for (const Member& member : members)
    hosts.insert(world.host(member.process));
  return static_cast<int>(hosts.size());
}

}  // namespace weft::collective
