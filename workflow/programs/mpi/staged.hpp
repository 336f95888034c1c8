// Messages staged through host memory: copy from the device, MPI, copy to the device.
#pragma once

#include <optional>
#include <vector>

#include "mpi/pieces.hpp"
#include "mpi/transport.hpp"

namespace weft {

class StagedTransport final : public Transport {
 public:
  StagedTransport(Memory placement, int device, std::size_t capacity_bytes);

  void expect(const Traffic& traffic) override;
  void send(const Message& message) override;
  void receive(const Message& message) override;
  void start_send(const Message& message) override;
  void start_receive(const Message& message) override;
  void finish() override;

 private:
  /// A piece under way and its part of the staging memory.
  struct Slot {
    Message piece{};
    MPI_Request request = MPI_REQUEST_NULL;
    Event copied;
  };

  /// One direction: a ring of slots. Pieces pass three gates in order: entered >= moved >= left.
  ///   outgoing: copy to host enqueued, handed to MPI, sent
  ///   incoming: posted to MPI, arrived and copy to device enqueued, copied
  struct Direction {
    Stream stream;
    Buffer staging;
    std::vector<Slot> slots;
    std::size_t slot_bytes = 0;
    Pieces waiting;
    std::size_t entered = 0, moved = 0, left = 0;

    Direction(Memory placement, int device, std::size_t size_bytes);
    Slot& slot(std::size_t piece) { return slots[piece % slots.size()]; }
    Place host(std::size_t piece) const { return {&staging, piece % slots.size() * slot_bytes}; }
    bool idle() const { return waiting.empty() && left == entered; }
    bool may_enter() const { return !waiting.empty() && entered - left < slots.size(); }
  };

  void copy_out();
  void post_receives();
  /// A step of one direction; whether anything went on.
  bool progress_outgoing();
  bool progress_incoming();
  void cut(Direction& direction, const Traffic& traffic);
  bool whole(const Message& message) const { return chunk_bytes_ == 0 || message.size_bytes <= chunk_bytes_; }

  std::size_t chunk_bytes_ = 0;
  Direction outgoing_, incoming_;
};

}  // namespace weft
