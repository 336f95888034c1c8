#include "collective/operation.hpp"

namespace weft::collective {

static const RegisteredOperation all_gather{{
    "all_gather",
    "Every rank gets the blocks of all ranks.",
    /*sends_blocks=*/false,
    /*receives_blocks=*/true,
    /*reduces=*/false,
    /*rooted=*/false,
    factor_others,
    [](const Call&) {
      Expectation expectation;
      expectation.by_block = true;
      return expectation;
    },
    own_block,
    first_block,
    never_refuses,
    [](const Call& call, MPI_Datatype datatype, MPI_Op, MPI_Comm communicator) {
      const int count = mpi_count(call.count);
      return MPI_Allgather(call.in_place ? MPI_IN_PLACE : call.send, count, datatype, call.receive, count,
                           datatype, communicator);
    },
    never_refuses,
    NcclAlgorithms::ring,
#if WEFT_BACKEND_CUDA
    [](const Call& call, ncclDataType_t datatype, ncclRedOp_t, ncclComm_t communicator, cudaStream_t stream) {
      return ncclAllGather(call.send, call.receive, call.count, datatype, communicator, stream);
    },
#endif
}};

}  // namespace weft::collective
