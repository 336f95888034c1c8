// NCCL's grouped sends and receives, of which it makes the operations that it has no call for. CUDA backend
// only.
#pragma once

#include <nccl.h>

#include <cstddef>

#include "collective/operation.hpp"

namespace weft::collective {

/// Sends and receives of blocks that run as one. Keeps the first error; end() returns it.
class NcclGroup {
 public:
  NcclGroup(const Call& call, ncclDataType_t datatype, ncclComm_t communicator, cudaStream_t stream)
      : call_(call), datatype_(datatype), communicator_(communicator), stream_(stream) {
    keep(ncclGroupStart());
  }

  void send(int block, int peer) {
    keep(ncclSend(at(call_.send, block), call_.count, datatype_, peer, communicator_, stream_));
  }
  void receive(int block, int peer) {
    keep(ncclRecv(at(call_.receive, block), call_.count, datatype_, peer, communicator_, stream_));
  }
  ncclResult_t end() {
    keep(ncclGroupEnd());
    return result_;
  }

 private:
  void keep(ncclResult_t result) {
    if (result_ == ncclSuccess) result_ = result;
  }
  void* at(void* buffer, int block) const {
    return static_cast<std::byte*>(buffer) +
           static_cast<std::size_t>(block) * call_.count * element_bytes(call_.datatype);
  }

  const Call& call_;
  ncclDataType_t datatype_;
  ncclComm_t communicator_;
  cudaStream_t stream_;
  ncclResult_t result_ = ncclSuccess;
};

}  // namespace weft::collective
