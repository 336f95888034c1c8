#include "mpi/launcher.hpp"

#include <cstdlib>
#include <initializer_list>
#include <string>

namespace weft {

namespace {

/// The first variable that holds a number. Slurm's come last: a launcher within an allocation inherits them.
std::optional<int> first_number(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* text = std::getenv(name);
    if (!text || !*text) continue;
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (*end == '\0' && value >= 0) return static_cast<int>(value);
  }
  return std::nullopt;
}

}  // namespace

Launcher read_launcher() {
  Launcher launcher;
  launcher.rank = first_number({"OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                "PALS_RANKID", "SLURM_PROCID"});
  // SLURM_NTASKS is no answer: a batch script has it too, whose processes are not the tasks of a step.
  launcher.size = first_number({"OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PMI_SIZE"});
  launcher.local_rank = first_number({"OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK",
                                      "MPI_LOCALRANKID", "PALS_LOCAL_RANKID", "SLURM_LOCALID"});
  return launcher;
}

}  // namespace weft
