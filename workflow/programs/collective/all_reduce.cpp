#include "collective/operation.hpp"

namespace weft::collective {

static const RegisteredOperation all_reduce{{
    "all_reduce",
    "Every rank gets the reduction of all ranks' elements.",
    /*sends_blocks=*/false,
    /*receives_blocks=*/false,
    /*reduces=*/true,
    /*rooted=*/false,
    [](int ranks) { return 2.0 * (ranks - 1) / ranks; },
    [](const Call&) {
      Expectation expectation;
      expectation.reduced = true;
      return expectation;
    },
    first_block,
    first_block,
    never_refuses,
    [](const Call& call, MPI_Datatype datatype, MPI_Op reduction, MPI_Comm communicator) {
      return MPI_Allreduce(call.in_place ? MPI_IN_PLACE : call.send, call.receive, mpi_count(call.count),
                           datatype, reduction, communicator);
    },
    never_refuses,
    NcclAlgorithms::ring_and_tree,
#if WEFT_BACKEND_CUDA
    [](const Call& call, ncclDataType_t datatype, ncclRedOp_t reduction, ncclComm_t communicator,
       cudaStream_t stream) {
      return ncclAllReduce(call.send, call.receive, call.count, datatype, reduction, communicator, stream);
    },
#endif
}};

}  // namespace weft::collective
