// The MPI world of a program: initialisation in the right order, geometry seen and asked for, agreement among ranks.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "core/json.hpp"
#include "core/options.hpp"
#include "core/team.hpp"

#define WEFT_MPI(call) ::weft::check_mpi((call), #call, __FILE__, __LINE__)

namespace weft {

/// Throws CallError with rank, call, file, line and the library's words.
void check_mpi(int status, const char* call, const char* file, int line);

/// MPI_Init to MPI_Finalize. The device of a rank is chosen from the launcher's local rank *before* MPI_Init: with
/// MPI first, OpenMPI's smcuda silently loses CUDA IPC.
class World : public Team {
 public:
  World(int& argc, char**& argv);
  ~World() override;

  int rank() const;
  int size() const;
  int local_rank() const;
  int device() const;                       ///< this rank's device: local rank modulo device count
  int nodes() const;
  const std::string& host(int rank) const;
  int device_of(int rank) const;
  MPI_Comm communicator() const { return MPI_COMM_WORLD; }

  /// environment.geometry.
  Json geometry() const;
  /// Adds --expect-ranks and --expect-nodes; check throws UsageError when the world is another one, e.g. N singletons.
  static void declare(Options& options);
  void check_geometry(const Options& options) const;
  /// environment.software of the MPI library: mpi_library, mpi_standard, mpi_cuda_aware.
  Json software() const;
  /// Whether the library takes device buffers; the host backend's are plain memory, so always.
  bool takes_device_buffers() const;

  bool leads() const override;
  double leaders(double value) override;
  double maximum(double value) override;
  double sum(double value) override;
  void barrier() override;

 private:
  int rank_ = 0, size_ = 1, local_rank_ = 0, nodes_ = 1;
  std::vector<std::string> hosts_;
  std::vector<int> devices_;
};

}  // namespace weft
