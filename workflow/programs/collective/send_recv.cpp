#include "collective/operation.hpp"
#if WEFT_BACKEND_CUDA
#include "collective/nccl_exchange.hpp"
#endif

namespace weft::collective {

static int before(const Call& call) { return (call.rank + call.ranks - 1) % call.ranks; }
static int after(const Call& call) { return (call.rank + 1) % call.ranks; }

static const RegisteredOperation send_recv{{
    "send_recv",
    "Every rank sends to the next and receives from the one before, in a ring.",
    /*sends_blocks=*/false,
    /*receives_blocks=*/false,
    /*reduces=*/false,
    /*rooted=*/false,
    factor_one,
    [](const Call& call) {
      Expectation expectation;
      expectation.peer = before(call);
      return expectation;
    },
    first_block,
    first_block,
    never_refuses,
    [](const Call& call, MPI_Datatype datatype, MPI_Op, MPI_Comm communicator) {
      const int count = mpi_count(call.count);
      if (call.in_place)
        return MPI_Sendrecv_replace(call.receive, count, datatype, after(call), 0, before(call), 0,
                                    communicator, MPI_STATUS_IGNORE);
      return MPI_Sendrecv(call.send, count, datatype, after(call), 0, call.receive, count, datatype,
                          before(call), 0, communicator, MPI_STATUS_IGNORE);
    },
    [](bool in_place) {
      return in_place ? "NCCL has no send that is replaced by what is received" : nullptr;
    },
    NcclAlgorithms::none,
#if WEFT_BACKEND_CUDA
    [](const Call& call, ncclDataType_t datatype, ncclRedOp_t, ncclComm_t communicator, cudaStream_t stream) {
      NcclGroup group(call, datatype, communicator, stream);
      group.send(0, after(call));
      group.receive(0, before(call));
      return group.end();
    },
#endif
}};

}  // namespace weft::collective
