#include "collective/library.hpp"

#include <map>
#include <stdexcept>

namespace weft::collective {

std::vector<Member> members_of(const World& world, Processes processes, int participants) {
  std::vector<Member> members;
  for (int rank = 0; rank < participants; ++rank)
    members.push_back(processes == Processes::one ? Member{rank, 0, rank}
                                                  : Member{rank, rank, world.device_of(rank)});
  return members;
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

Groups::Group& Groups::group(LibraryName name, Processes processes, int participants) {
  Group& group = joined_->groups[{name, participants}];
  if (group.library) return group;
  std::vector<int> team;
  std::vector<Member> mine;
  for (const Member& member : members_of(world_, processes, participants)) {
    if (team.empty() || team.back() != member.process) team.push_back(member.process);
    if (member.process == world_.rank()) mine.push_back(member);
  }
  group.team = std::make_unique<Subteam>(team);
  group.library =
      name == LibraryName::mpi ? join_mpi(*group.team) : join_nccl(*group.team, mine, participants);
  return group;
}

}  // namespace weft::collective
