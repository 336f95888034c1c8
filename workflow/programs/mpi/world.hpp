// The MPI world of a program: initialisation in the right order, geometry seen and asked for, agreement among
// ranks.
#pragma once

#include <mpi.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/json.hpp"
#include "core/options.hpp"
#include "core/team.hpp"
#include "core/watchdog.hpp"

#define WEFT_MPI(call) ::weft::check_mpi((call), #call, __FILE__, __LINE__)

namespace weft {

/// Throws CallError with rank, call, file, line and the library's words.
[[noreturn]] void throw_mpi(int status, const char* call, const char* file, int line);
inline void check_mpi(int status, const char* call, const char* file, int line) {
  if (status != MPI_SUCCESS) throw_mpi(status, call, file, line);
}

/// The ranks of a communicator as a team; its rank 0 leads.
class RankTeam : public Team {
 public:
  explicit RankTeam(MPI_Comm communicator) : communicator_(communicator) {}

  bool leads() const override;
  double leaders(double value) override;
  double maximum(double value) override;
  double sum(double value) override;
  std::string words(const std::string& mine) override;
  std::vector<std::string> everyones(const std::string& mine) override;
  void barrier() override;

  MPI_Comm communicator() const { return communicator_; }

 protected:
  MPI_Comm communicator_;
};

/// Some ranks of the world, in the order given, as a team of their own; made and destroyed by its members
/// alone.
class Subteam : public RankTeam {
 public:
  explicit Subteam(const std::vector<int>& ranks);
  ~Subteam() override;
  Subteam(const Subteam&) = delete;
  Subteam& operator=(const Subteam&) = delete;
};

/// MPI_Init to MPI_Finalize. The device of a rank is chosen from the launcher's local rank *before* MPI_Init:
/// with MPI first, OpenMPI's smcuda silently loses CUDA IPC.
class World : public RankTeam {
 public:
  World(int& argc, char**& argv);
  ~World() override;
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  int local_rank() const { return local_ranks_[rank_]; }
  int device() const { return device_of(rank_); }  ///< this rank's device: local rank modulo device count
  int nodes() const { return nodes_; }
  const std::string& host(int rank) const { return hosts_[rank]; }
  /// Which node each rank is on: the first rank of it.
  const std::vector<int>& nodes_of_ranks() const { return nodes_of_ranks_; }
  int device_of(int rank) const;

  /// environment.geometry.
  Json geometry() const;
  /// Adds --expect-ranks, --expect-nodes and --expect-ranks-per-node; check throws UsageError when the world
  /// is another one, e.g. N singletons, or cannot be measured in.
  static void declare(Options& options);
  void check_geometry(const Options& options) const;
  /// environment.software of the MPI library: mpi_library, mpi_standard, mpi_cuda_aware, cross_memory_attach.
  Json software() const;
  /// Whether the library takes device buffers; the host backend's are plain memory, so always.
  bool takes_device_buffers() const;

  /// Its rank and host.
  Json self() const override;
  /// Rank 0; of processes that a launcher started and that MPI did not join, the first.
  bool leads() const override;

  /// Waits for all ranks like a barrier, but asleep most of the time, so that ranks without work leave their
  /// core to those that have some. Wakes within a millisecond.
  void wait_idle(Patience patience = Patience::measurement) const;

  /// Runs `prepare` on every rank; when it throws on any, every rank throws the worst of it, in the words of
  /// the first. `prepare` must not communicate.
  void prepare_together(const std::function<void()>& prepare);

  /// Runs an action in which ranks wait for each other. When it throws, the other ranks would wait forever:
  /// says why and ends all ranks (MPI_Abort).
  template <class Action>
  auto communicate(Action action) const {
    try {
      return action();
    } catch (const std::exception& exception) {
      abort(exception.what());
    }
  }
  [[noreturn]] void abort(const std::string& message) const;

 private:
  void join(int launched_local_rank, int device_count);

  std::string misplaced(int expected) const;

  int rank_ = 0, size_ = 1, nodes_ = 1;
  std::string library_;                                      ///< the MPI library's own words
  int launched_rank_ = 0;                                    ///< what the launcher calls this rank
  std::optional<int> launched_size_;                         ///< how many processes the launcher started
  std::vector<std::string> hosts_;                           ///< of each rank, as the next four
  std::vector<std::string> cpus_;                            ///< lists of the cores it may run on
  std::vector<int> nodes_of_ranks_;                          ///< the first rank of its node
  std::vector<int> local_ranks_;                             ///< the launcher's, MPI's where it gives none
  std::vector<int> device_counts_;                           ///< cuda backend only: chosen before MPI_Init
  std::optional<bool> shares_memory_, cross_memory_attach_;  ///< mpi/node.hpp; empty: a rank a node
  std::string problem_;  ///< what is wrong with the launch, told by check_geometry
};

}  // namespace weft
