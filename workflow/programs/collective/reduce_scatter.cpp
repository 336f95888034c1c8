#include "collective/operation.hpp"

namespace weft::collective {

static const RegisteredOperation reduce_scatter{{
    "reduce_scatter",
    "Every rank gets its block of the reduction of all ranks' elements.",
    /*sends_blocks=*/true,
    /*receives_blocks=*/false,
    /*reduces=*/true,
    /*rooted=*/false,
    factor_others,
    [](const Call& call) {
      Expectation expectation;
      expectation.reduced = true;
      expectation.offset = own_block(call) * call.count;
      return expectation;
    },
    first_block,
    // In place MPI leaves the result at the beginning of the one buffer, NCCL in the own block.
    [](const Call& call) { return call.library == LibraryName::mpi ? 0 : own_block(call); },
    never_refuses,
    [](const Call& call, MPI_Datatype datatype, MPI_Op reduction, MPI_Comm communicator) {
      return MPI_Reduce_scatter_block(call.in_place ? MPI_IN_PLACE : call.send, call.receive,
                                      mpi_count(call.count), datatype, reduction, communicator);
    },
    never_refuses,
    NcclAlgorithms::ring,
#if WEFT_BACKEND_CUDA
    [](const Call& call, ncclDataType_t datatype, ncclRedOp_t reduction, ncclComm_t communicator,
       cudaStream_t stream) {
      return ncclReduceScatter(call.send, call.receive, call.count, datatype, reduction, communicator,
                               stream);
    },
#endif
}};

}  // namespace weft::collective
