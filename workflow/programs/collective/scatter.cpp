#include "collective/operation.hpp"
#if WEFT_BACKEND_CUDA
#include "collective/nccl_exchange.hpp"
#endif

namespace weft::collective {

static const RegisteredOperation scatter{{
    "scatter",
    "Every rank gets its block of the root's elements.",
    /*sends_blocks=*/true,
    /*receives_blocks=*/false,
    /*reduces=*/false,
    /*rooted=*/true,
    factor_others,
    [](const Call& call) {
      Expectation expectation;
      expectation.peer = call.root;
      expectation.offset = own_block(call) * call.count;
      return expectation;
    },
    first_block,
    own_block,
    never_refuses,
    [](const Call& call, MPI_Datatype datatype, MPI_Op, MPI_Comm communicator) {
      const int count = mpi_count(call.count);
      const bool stays = call.in_place && call.rank == call.root;
      return MPI_Scatter(call.send, count, datatype, stays ? MPI_IN_PLACE : call.receive, count, datatype,
                         call.root, communicator);
    },
    never_refuses,
    NcclAlgorithms::none,
#if WEFT_BACKEND_CUDA
    [](const Call& call, ncclDataType_t datatype, ncclRedOp_t, ncclComm_t communicator, cudaStream_t stream) {
      NcclGroup group(call, datatype, communicator, stream);
      if (call.rank == call.root)
        for (int peer = 0; peer < call.ranks; ++peer)
          group.send(peer, peer);
      group.receive(0, call.root);
      return group.end();
    },
#endif
}};

}  // namespace weft::collective
