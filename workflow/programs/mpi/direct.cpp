#include "mpi/direct.hpp"

namespace weft {

namespace {

constexpr std::size_t most_requests = 256;

int post_send(const Message& piece, MPI_Request* request) {
  return MPI_Isend(piece.place.address(), static_cast<int>(piece.size_bytes), MPI_BYTE, piece.peer, piece.tag,
                   MPI_COMM_WORLD, request);
}

int post_receive(const Message& piece, MPI_Request* request) {
  return MPI_Irecv(piece.place.address(), static_cast<int>(piece.size_bytes), MPI_BYTE, piece.peer, piece.tag,
                   MPI_COMM_WORLD, request);
}

}  // namespace

DirectTransport::DirectTransport(int device)
    : Transport(Buffer(Memory::device, device, 4)), outgoing_(post_send), incoming_(post_receive) {}

void DirectTransport::send(const Message& message) {
  if (chunk_bytes_ != 0 && message.size_bytes > chunk_bytes_) {
    start_send(message);
    return finish();
  }
  WEFT_MPI(MPI_Send(message.place.address(), static_cast<int>(message.size_bytes), MPI_BYTE, message.peer,
                    message.tag, MPI_COMM_WORLD));
}

void DirectTransport::receive(const Message& message) {
  if (chunk_bytes_ != 0 && message.size_bytes > chunk_bytes_) {
    start_receive(message);
    return finish();
  }
  WEFT_MPI(MPI_Recv(message.place.address(), static_cast<int>(message.size_bytes), MPI_BYTE, message.peer,
                    message.tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

void DirectTransport::start_send(const Message& message) {
  outgoing_.waiting.add(message);
  outgoing_.post_some(chunk_bytes_);
}

void DirectTransport::start_receive(const Message& message) {
  incoming_.waiting.add(message);
  incoming_.post_some(chunk_bytes_);
}

void DirectTransport::finish() {
  // Both directions at once: each may wait for the other to be posted at the peer.
  while (!outgoing_.waiting.empty() || !incoming_.waiting.empty()) {
    incoming_.progress(chunk_bytes_);
    outgoing_.progress(chunk_bytes_);
  }
  outgoing_.finish();
  incoming_.finish();
}

DirectTransport::Direction::Direction(Post post) : post(post), ring(most_requests, MPI_REQUEST_NULL) {}

void DirectTransport::Direction::post_some(std::size_t chunk_bytes) {
  for (; !waiting.empty() && posted - done < ring.size(); ++posted)
    WEFT_MPI(post(waiting.next(chunk_bytes), &ring[posted % ring.size()]));
}

void DirectTransport::Direction::progress(std::size_t chunk_bytes) {
  int arrived = 0;
  if (done < posted) WEFT_MPI(MPI_Test(&ring[done % ring.size()], &arrived, MPI_STATUS_IGNORE));
  if (arrived) ++done;
  post_some(chunk_bytes);
}

void DirectTransport::Direction::finish() {
  if (done == posted) return;
  // Those done are null requests, which MPI_Waitall passes over.
  const std::size_t used = std::min(posted, ring.size());
  WEFT_MPI(MPI_Waitall(static_cast<int>(used), ring.data(), MPI_STATUSES_IGNORE));
  posted = done = 0;
}

}  // namespace weft
