// Whether the MPI library takes pointers to CUDA device memory.
#pragma once

#include <optional>

namespace weft {

/// The library's answer; empty where it has no way to tell.
std::optional<bool> mpi_is_cuda_aware();

}  // namespace weft
