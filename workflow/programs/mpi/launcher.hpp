// What the launcher tells a process through its environment, before MPI_Init can be asked.
#pragma once

#include <optional>

namespace weft {

/// What launchers of OpenMPI, MVAPICH, MPICH and Intel MPI, Cray and Slurm say; empty where none does.
struct Launcher {
  std::optional<int> rank, size, local_rank;
};

Launcher read_launcher();

}  // namespace weft
