#include "mpi/cuda_aware.hpp"

#include <mpi.h>

#include <cstdlib>
#include <string>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace weft {

std::optional<bool> mpi_is_cuda_aware() {
#if defined(OMPI_HAVE_MPI_EXT_CUDA) && OMPI_HAVE_MPI_EXT_CUDA
  return MPIX_Query_cuda_support() != 0;
#elif defined(MPIX_GPU_SUPPORT_CUDA)  // MPICH and its kin
  int supported = 0;
  if (MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &supported) != MPI_SUCCESS) return std::nullopt;
  return supported != 0;
#else
  // MVAPICH2-GDR and Cray MPICH are switched by a variable and answer no call.
  for (const char* name : {"MV2_USE_CUDA", "MVP_USE_CUDA", "MPICH_GPU_SUPPORT_ENABLED"})
    if (const char* value = std::getenv(name)) return std::string(value) != "0";
  return std::nullopt;
#endif
}

}  // namespace weft
