#include "collective/operation.hpp"
#if WEFT_BACKEND_CUDA
#include "collective/nccl_exchange.hpp"
#endif

namespace weft::collective {

static const RegisteredOperation all_to_all{{
    "all_to_all",
    "Every rank gets its block from every rank.",
    /*sends_blocks=*/true,
    /*receives_blocks=*/true,
    /*reduces=*/false,
    /*rooted=*/false,
    factor_others,
    [](const Call& call) {
      Expectation expectation;
      expectation.by_block = true;
      expectation.offset = own_block(call) * call.count;
      return expectation;
    },
    first_block,
    first_block,
    never_refuses,
    [](const Call& call, MPI_Datatype datatype, MPI_Op, MPI_Comm communicator) {
      const int count = mpi_count(call.count);
      return MPI_Alltoall(call.in_place ? MPI_IN_PLACE : call.send, count, datatype, call.receive, count,
                          datatype, communicator);
    },
    [](bool in_place) {
      return in_place ? "NCCL has no in-place exchange of blocks: sends would read what receives have written"
                      : nullptr;
    },
    NcclAlgorithms::none,
#if WEFT_BACKEND_CUDA
    [](const Call& call, ncclDataType_t datatype, ncclRedOp_t, ncclComm_t communicator, cudaStream_t stream) {
      NcclGroup group(call, datatype, communicator, stream);
      for (int peer = 0; peer < call.ranks; ++peer) {
        group.send(peer, peer);
        group.receive(peer, peer);
      }
      return group.end();
    },
#endif
}};

}  // namespace weft::collective
