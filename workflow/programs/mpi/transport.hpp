// Transports: how a message gets from one rank's device memory to another's.
//
// Where the buffer that MPI sees lies (placement) times how the library was launched (GPUDirect on or off,
// decided by the launcher's environment) makes the five transports; each sends a message whole or in chunks.
#pragma once

#include <cstddef>
#include <memory>

#include "core/device.hpp"
#include "mpi/world.hpp"

namespace weft {

/// Bytes of this rank's device memory that go to, or come from, rank `peer` of the world.
struct Message {
  Place place;
  std::size_t size_bytes;
  int peer;
  int tag = 100;
};

/// What a transport has to be prepared for.
struct Traffic {
  std::size_t message_bytes;  ///< the largest message
  std::size_t chunk_bytes;    ///< messages larger than this travel in pieces of it; 0: whole
  std::size_t messages;       ///< started in one direction before a finish()
};

/// Moves messages between device memories. Two ranks that talk use the same kind, chunk and order of
/// messages.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Says what comes, before the first message and again whenever it changes. Nothing may be under way.
  virtual void expect(const Traffic& traffic) = 0;

  /// Returns when the place may be written again.
  virtual void send(const Message& message) = 0;
  /// Returns when the bytes are in device memory.
  virtual void receive(const Message& message) = 0;

  /// These return at once, or nearly so; finish() returns when all that was started is done, as send and
  /// receive say.
  virtual void start_send(const Message& message) = 0;
  virtual void start_receive(const Message& message) = 0;
  virtual void finish() = 0;

  /// A message of four bytes without content, from where MPI takes payload: the reply that ends a window (tag
  /// 101).
  void send_reply(int peer) const;
  void receive_reply(int peer) const;

 protected:
  explicit Transport(Buffer reply) : reply_(std::move(reply)) {}

 private:
  Buffer reply_;
};

/// Host memory that each direction of a staged transport takes for such traffic.
std::size_t staging_bytes(const Traffic& traffic);

/// The device's own memory given to MPI (placement device), or a copy to or from pinned or pageable host
/// memory on either side of MPI's transfer. `capacity_bytes` is the most that staging_bytes() gives for what
/// will be expected. Throws Unsupported when the MPI library takes no device memory.
std::unique_ptr<Transport> make_transport(const World& world, Memory placement, std::size_t capacity_bytes);

}  // namespace weft
