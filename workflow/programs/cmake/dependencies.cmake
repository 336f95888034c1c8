# Threads, MPI (target MPI::MPI_CXX) and, with the cuda backend, NCCL (target weft_nccl) and nvml.h. NVML itself is
# loaded at run time, so neither the driver nor its stubs are needed to link.
find_package(Threads REQUIRED)

# The wheel's or the machine's compiler wrapper says how to link, run path included.
set(MPI_CXX_SKIP_MPICXX ON)
if(WEFT_TOOLCHAIN STREQUAL locked)
  set(MPI_CXX_COMPILER ${weft_locked}/bin/mpicxx)
endif()
find_package(MPI COMPONENTS CXX)
if(NOT MPI_CXX_FOUND)
  weft_fail("No MPI was found; load an MPI module so that mpicxx is on PATH (or set MPI_HOME), or choose the locked toolchain.")
endif()

if(WEFT_BACKEND STREQUAL cuda)
  find_package(CUDAToolkit REQUIRED)
  set(nccl_places $ENV{NCCL_HOME} $ENV{NCCL_ROOT} ${weft_locked_nvidia}/nccl)
  if(WEFT_TOOLCHAIN STREQUAL system)
    # PyTorch brings NCCL along as a Python package.
    execute_process(
      COMMAND python3 -c "import importlib.util as u; print(u.find_spec('nvidia.nccl').submodule_search_locations[0])"
      OUTPUT_VARIABLE nccl_of_python OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    list(APPEND nccl_places ${nccl_of_python})
  endif()
  find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${nccl_places} PATHS ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
  find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS ${nccl_places} PATH_SUFFIXES lib lib64)
  if(NOT NCCL_INCLUDE_DIR OR NOT NCCL_LIBRARY)
    weft_fail("No NCCL was found; set NCCL_HOME to the folder that holds its include and lib, or choose the locked toolchain.")
  endif()
  add_library(weft_nccl INTERFACE)
  target_include_directories(weft_nccl SYSTEM INTERFACE ${NCCL_INCLUDE_DIR})
  target_link_libraries(weft_nccl INTERFACE ${NCCL_LIBRARY})
endif()
