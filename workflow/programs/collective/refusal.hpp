// Why an operation cannot be measured here, known before it is tried.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collective/library.hpp"

namespace weft::collective {

/// Empty where the members can run the operation by MPI.
std::optional<std::string> mpi_refusal(const Operation& operation, bool in_place, bool graph,
                                       const World& world);

/// Empty where they can by NCCL.
std::optional<std::string> nccl_refusal(const Operation& operation, bool in_place, const NcclChoices& choices,
                                        const World& world, const std::vector<Member>& members);

/// On how many hosts the members are.
int nodes_of(const World& world, const std::vector<Member>& members);

}  // namespace weft::collective
