// What the launcher tells a process through its environment, before MPI_Init can be asked.
#pragma once

#include <optional>
#include <string>

namespace weft {

/// What launchers of OpenMPI, MVAPICH, MPICH and Intel MPI, Cray and Slurm say; empty where none does.
struct Launcher {
  std::optional<int> rank, size, local_rank;
};

Launcher read_launcher();

/// Which launcher it is and what it speaks, for messages: "srun --mpi=pmix, PMIx 5.0.7".
std::string launcher_words();

}  // namespace weft
