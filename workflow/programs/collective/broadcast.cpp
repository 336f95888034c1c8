#include "collective/operation.hpp"

namespace weft::collective {

static const RegisteredOperation broadcast{{
    "broadcast",
    "Every rank gets the root's elements.",
    /*sends_blocks=*/false,
    /*receives_blocks=*/false,
    /*reduces=*/false,
    /*rooted=*/true,
    factor_one,
    [](const Call& call) {
      Expectation expectation;
      expectation.peer = call.root;
      return expectation;
    },
    first_block,
    first_block,
    [](bool in_place) {
      return in_place ? nullptr : "MPI_Bcast knows one buffer only: it is always in place";
    },
    [](const Call& call, MPI_Datatype datatype, MPI_Op, MPI_Comm communicator) {
      return MPI_Bcast(call.receive, mpi_count(call.count), datatype, call.root, communicator);
    },
    never_refuses,
    NcclAlgorithms::ring,
#if WEFT_BACKEND_CUDA
    [](const Call& call, ncclDataType_t datatype, ncclRedOp_t, ncclComm_t communicator, cudaStream_t stream) {
      return ncclBroadcast(call.send, call.receive, call.count, datatype, call.root, communicator, stream);
    },
#endif
}};

}  // namespace weft::collective
