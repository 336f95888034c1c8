#include "mpi/launcher.hpp"

#include <initializer_list>

#include "core/variable.hpp"

namespace weft {

namespace {

/// The first variable that holds a number. Slurm's come last: a launcher within an allocation inherits them.
std::optional<int> first_number(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto value = number_variable(name)) return value;
  return std::nullopt;
}

}  // namespace

Launcher read_launcher() {
  Launcher launcher;
  launcher.rank = first_number({"OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                "PALS_RANKID", "SLURM_PROCID"});
  // SLURM_NTASKS is no answer: a batch script has it too, whose processes are not the tasks of a step.
  launcher.size =
      first_number({"OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"});
  launcher.local_rank = first_number({"OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK",
                                      "MPI_LOCALRANKID", "PALS_LOCAL_RANKID", "SLURM_LOCALID"});
  return launcher;
}

std::string launcher_words() {
  std::string words = "unknown";
  if (variable("OMPI_COMM_WORLD_SIZE"))
    words = "mpirun of Open MPI";
  else if (variable("MV2_COMM_WORLD_SIZE"))
    words = "mpirun_rsh";
  else if (variable("SLURM_STEP_ID"))
    words = "srun";
  else if (variable("PMI_SIZE"))
    words = "mpiexec";
  if (const auto kind = variable("SLURM_MPI_TYPE"); kind && words == "srun") words += " --mpi=" + *kind;
  if (const auto version = variable("PMIX_VERSION")) words += ", PMIx " + *version;
  return words;
}

}  // namespace weft
