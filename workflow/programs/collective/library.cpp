#include "collective/library.hpp"

#include <climits>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>

#include "core/error.hpp"

namespace weft::collective {

int mpi_count(std::size_t count) {
  if (count > INT_MAX)
    throw Unsupported("MPI counts elements in an int, which ends at 2147483647, and a block here has " +
                      std::to_string(count));
  return static_cast<int>(count);
}

/// NCCL wants a device of its own for each rank.
static std::optional<std::string> shared_device(const World& world, int participants) {
  std::set<std::pair<std::string, int>> taken;
  for (int rank = 0; rank < participants; ++rank)
    if (!taken.emplace(world.host(rank), world.device_of(rank)).second)
      return "rank " + std::to_string(rank) + " shares device " + std::to_string(world.device_of(rank)) +
             " of " + world.host(rank) + " with another, and NCCL wants a device for each";
  return std::nullopt;
}

std::optional<std::string> refusal(LibraryName name, const Operation& operation, bool in_place,
                                   const World& world, int participants) {
  if (participants < 2) return "a collective needs two participants";
  if (name == LibraryName::nccl) {
    if (backend() != Backend::cuda) return "this program was built without NCCL (host backend)";
    if (const char* words = operation.nccl_refuses(in_place)) return words;
    return shared_device(world, participants);
  }
  if (!world.takes_device_buffers()) return "this MPI library takes no device buffers (it is not CUDA-aware)";
  if (const char* words = operation.mpi_refuses(in_place)) return words;
  return std::nullopt;
}

struct Groups::Joined {
  std::map<std::pair<LibraryName, int>, Group> groups;
};

static Groups* current_groups = nullptr;

Groups::Groups(World& world) : world_(world), joined_(std::make_unique<Joined>()) { current_groups = this; }

Groups::~Groups() { current_groups = nullptr; }

Groups& Groups::current() {
  if (current_groups == nullptr) throw std::logic_error("collective: no world was joined");
  return *current_groups;
}

Groups::Group& Groups::group(LibraryName name, int participants) {
  Group& group = joined_->groups[{name, participants}];
  if (group.library) return group;
  std::vector<int> ranks(static_cast<std::size_t>(participants));
  std::iota(ranks.begin(), ranks.end(), 0);
  group.team = std::make_unique<Subteam>(ranks);
  group.library = name == LibraryName::mpi
                      ? join_mpi(*group.team)
                      : join_nccl(*group.team, world_.rank(), participants, world_.device());
  return group;
}

}  // namespace weft::collective
