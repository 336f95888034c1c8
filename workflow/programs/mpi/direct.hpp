// Device memory given to MPI as it is.
#pragma once

#include <vector>

#include "mpi/pieces.hpp"
#include "mpi/transport.hpp"

namespace weft {

class DirectTransport final : public Transport {
 public:
  explicit DirectTransport(int device);

  void expect(const Traffic& traffic) override { chunk_bytes_ = traffic.chunk_bytes; }
  void send(const Message& message) override;
  void receive(const Message& message) override;
  void start_send(const Message& message) override;
  void start_receive(const Message& message) override;
  void finish() override;

 private:
  using Post = int (*)(const Message& piece, MPI_Request* request);

  /// One direction: a ring of requests, so that a message of many chunks does not flood the library.
  struct Direction {
    Post post;
    Pieces waiting;
    std::vector<MPI_Request> ring;
    std::size_t posted = 0, done = 0;

    explicit Direction(Post post);
    void post_some(std::size_t chunk_bytes);
    void progress(std::size_t chunk_bytes);
    void finish();
  };

  std::size_t chunk_bytes_ = 0;
  Direction outgoing_, incoming_;
};

}  // namespace weft
