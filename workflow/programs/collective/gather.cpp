#include "collective/operation.hpp"
#if WEFT_BACKEND_CUDA
#include "collective/nccl_exchange.hpp"
#endif

namespace weft::collective {

static const RegisteredOperation gather{{
    "gather",
    "The root gets the blocks of all ranks.",
    /*sends_blocks=*/false,
    /*receives_blocks=*/true,
    /*reduces=*/false,
    /*rooted=*/true,
    factor_others,
    [](const Call& call) {
      Expectation expectation;
      expectation.receives = call.rank == call.root;
      expectation.by_block = true;
      return expectation;
    },
    own_block,
    first_block,
    never_refuses,
    [](const Call& call, MPI_Datatype datatype, MPI_Op, MPI_Comm communicator) {
      const int count = mpi_count(call.count);
      const bool stays = call.in_place && call.rank == call.root;
      return MPI_Gather(stays ? MPI_IN_PLACE : call.send, count, datatype, call.receive, count, datatype,
                        call.root, communicator);
    },
    never_refuses,
    NcclAlgorithms::none,
#if WEFT_BACKEND_CUDA
    [](const Call& call, ncclDataType_t datatype, ncclRedOp_t, ncclComm_t communicator, cudaStream_t stream) {
      NcclGroup group(call, datatype, communicator, stream);
      group.send(0, call.root);
      if (call.rank == call.root)
        for (int peer = 0; peer < call.ranks; ++peer)
          group.receive(peer, peer);
      return group.end();
    },
#endif
}};

}  // namespace weft::collective
