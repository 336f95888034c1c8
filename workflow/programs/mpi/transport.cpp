#include "mpi/transport.hpp"

#include "core/error.hpp"
#include "mpi/direct.hpp"
#include "mpi/staged.hpp"

namespace weft {

namespace {

constexpr int reply_tag = 101;
constexpr int reply_bytes = 4;

}  // namespace

void Transport::send_reply(int peer) const {
  WEFT_MPI(MPI_Send(reply_.data(), reply_bytes, MPI_BYTE, peer, reply_tag, MPI_COMM_WORLD));
}

void Transport::receive_reply(int peer) const {
  WEFT_MPI(
      MPI_Recv(reply_.data(), reply_bytes, MPI_BYTE, peer, reply_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

std::unique_ptr<Transport> make_transport(const World& world, Memory placement, std::size_t capacity_bytes) {
  if (placement != Memory::device)
    return std::make_unique<StagedTransport>(placement, world.device(), capacity_bytes);
  if (!world.takes_device_buffers())
    throw Unsupported("the MPI library is not CUDA-aware: it takes no device memory");
  return std::make_unique<DirectTransport>(world.device());
}

}  // namespace weft
