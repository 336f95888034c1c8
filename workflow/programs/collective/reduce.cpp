#include "collective/operation.hpp"

namespace weft::collective {

static const RegisteredOperation reduce{{
    "reduce",
    "The root gets the reduction of all ranks' elements.",
    /*sends_blocks=*/false,
    /*receives_blocks=*/false,
    /*reduces=*/true,
    /*rooted=*/true,
    factor_one,
    [](const Call& call) {
      Expectation expectation;
      expectation.receives = call.rank == call.root;
      expectation.reduced = true;
      return expectation;
    },
    first_block,
    first_block,
    never_refuses,
    [](const Call& call, MPI_Datatype datatype, MPI_Op reduction, MPI_Comm communicator) {
      const bool replaces = call.in_place && call.rank == call.root;
      return MPI_Reduce(replaces ? MPI_IN_PLACE : call.send, call.rank == call.root ? call.receive : nullptr,
                        mpi_count(call.count), datatype, reduction, call.root, communicator);
    },
    never_refuses,
    NcclAlgorithms::ring,
#if WEFT_BACKEND_CUDA
    [](const Call& call, ncclDataType_t datatype, ncclRedOp_t reduction, ncclComm_t communicator,
       cudaStream_t stream) {
      return ncclReduce(call.send, call.receive, call.count, datatype, reduction, call.root, communicator,
                        stream);
    },
#endif
}};

}  // namespace weft::collective
