// What carries a collective: MPI or NCCL, behind one interface.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collective/kept_buffers.hpp"
#include "collective/nccl_choices.hpp"
#include "collective/operation.hpp"
#include "core/device.hpp"
#include "mpi/world.hpp"

namespace weft::collective {

/// A participant: its rank in the operation, the rank of the world that drives it, its device.
struct Member {
  int rank, process, device;
};

/// The first `participants`, in order of rank.
std::vector<Member> members_of(const World& world, Processes processes, int participants);

/// One operation on buffers that stay where they are.
class Work {
 public:
  virtual ~Work() = default;
  /// Runs it `operations` times back to back after a synchronised start, and returns the seconds that this
  /// process's members took. Called by all processes of the team.
  virtual double run(std::size_t operations) = 0;
};

/// A library, joined by the processes of one team.
class Library {
 public:
  virtual ~Library() = default;
  /// `calls`: one for each member that this process drives, by rank; their buffers and the library must
  /// outlive the work. `graph`: the operations of a run are captured in a CUDA graph and launched as one.
  /// Called by all processes of the team.
  virtual std::unique_ptr<Work> prepare(const Operation& operation, std::vector<Call> calls, bool graph) = 0;
  /// `timer` of a measurement.
  virtual const char* timer() const = 0;
};

std::unique_ptr<Library> join_mpi(RankTeam& team);
/// `members`: those that this process drives, of `ranks` in all. Throws Unsupported where the program was
/// built without NCCL.
std::unique_ptr<Library> join_nccl(RankTeam& team, const std::vector<Member>& members, int ranks);

/// Memory that NCCL allocates, as nccl-tests uses it: only this may it register in a graph. Null where NCCL
/// is not there, or too old to have any (before 2.19).
const DeviceAllocator* nccl_allocator();

/// environment.software.nccl; null without NCCL.
Json nccl_version();

/// The first ranks of the world with their libraries, joined when first needed and kept: joining NCCL takes
/// longer than most measurements. Made in main, so that it ends before MPI does.
class Groups {
 public:
  explicit Groups(World& world);
  ~Groups();
  static Groups& current();

  World& world() { return world_; }
  /// The memory that calls of the library work on.
  KeptBuffers& buffers(LibraryName name) { return name == LibraryName::nccl ? nccl_buffers_ : buffers_; }
  struct Group {
    std::unique_ptr<Subteam> team;
    std::unique_ptr<Library> library;
  };
  /// Called by the processes of the members together. One run of the program has one kind of `processes`.
  Group& group(LibraryName name, Processes processes, int participants);

 private:
  World& world_;
  KeptBuffers buffers_, nccl_buffers_{nccl_allocator()};
  struct Joined;
  std::unique_ptr<Joined> joined_;
};

}  // namespace weft::collective
