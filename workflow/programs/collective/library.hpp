// What carries a collective: MPI or NCCL, behind one interface.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "collective/operation.hpp"
#include "core/device.hpp"
#include "mpi/world.hpp"

namespace weft::collective {

/// A library, joined by the ranks of one team.
class Library {
 public:
  virtual ~Library() = default;
  /// Runs an operation `operations` times back to back after a synchronised start, and returns the seconds
  /// that this rank took. Called by all ranks of the team.
  virtual double run(const Operation& operation, const Call& call, std::size_t operations) = 0;
  /// `timer` of a measurement.
  virtual const char* timer() const = 0;
};

std::unique_ptr<Library> join_mpi(RankTeam& team);
/// Throws Unsupported where the program was built without NCCL.
std::unique_ptr<Library> join_nccl(RankTeam& team, int rank, int ranks, int device);

/// Why the first `participants` ranks of a world cannot run an operation with a library; empty when they can.
std::optional<std::string> refusal(LibraryName name, const Operation& operation, bool in_place,
                                   const World& world, int participants);

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
  struct Group {
    std::unique_ptr<Subteam> team;
    std::unique_ptr<Library> library;
  };
  /// Called by the first `participants` ranks together.
  Group& group(LibraryName name, int participants);

 private:
  World& world_;
  struct Joined;
  std::unique_ptr<Joined> joined_;
};

}  // namespace weft::collective
