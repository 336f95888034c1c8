#include "mpi/staged.hpp"

#include <stdexcept>
#include <thread>

namespace weft {

namespace {

constexpr std::size_t most_slots = 256;
constexpr std::size_t wished_staging_bytes = 64 << 20;
constexpr std::size_t slot_alignment = 256;

std::size_t slot_size(const Traffic& traffic) {
  const std::size_t piece =
      traffic.chunk_bytes == 0 ? traffic.message_bytes : std::min(traffic.chunk_bytes, traffic.message_bytes);
  return (piece + slot_alignment - 1) / slot_alignment * slot_alignment;
}

/// Pieces that one finish() can bring: more slots would never be filled.
std::size_t pieces_under_way(const Traffic& traffic) {
  const std::size_t chunk = traffic.chunk_bytes;
  const std::size_t pieces = chunk == 0 ? 1 : (traffic.message_bytes + chunk - 1) / chunk;
  return std::min(pieces * traffic.messages, most_slots);
}

}  // namespace

std::size_t staging_bytes(const Traffic& traffic) {
  // At least two slots, so that one is copied while MPI moves the other; more where pieces are small.
  const std::size_t slot = slot_size(traffic);
  return std::min(std::max(2 * slot, wished_staging_bytes), slot * pieces_under_way(traffic));
}

StagedTransport::Direction::Direction(Memory placement, int device, std::size_t size_bytes)
    : stream(device), staging(placement, device, size_bytes) {}

StagedTransport::StagedTransport(Memory placement, int device, std::size_t capacity_bytes)
    : Transport(Buffer(placement, device, 4)), outgoing_(placement, device, capacity_bytes),
      incoming_(placement, device, capacity_bytes) {}

void StagedTransport::expect(const Traffic& traffic) {
  chunk_bytes_ = traffic.chunk_bytes;
  cut(outgoing_, traffic);
  cut(incoming_, traffic);
}

void StagedTransport::cut(Direction& direction, const Traffic& traffic) {
  if (!direction.idle()) throw std::logic_error("other traffic was announced while messages are under way");
  direction.slot_bytes = slot_size(traffic);
  const std::size_t slots =
      std::min(direction.staging.size_bytes() / direction.slot_bytes, pieces_under_way(traffic));
  if (slots == 0) throw std::logic_error("a message is larger than the staging memory of its transport");
  while (direction.slots.size() > slots)
    direction.slots.pop_back();
  while (direction.slots.size() < slots)
    direction.slots.push_back(Slot{{}, MPI_REQUEST_NULL, Event(direction.stream.device())});
  direction.entered = direction.moved = direction.left = 0;
}

void StagedTransport::send(const Message& message) {
  if (!whole(message)) {
    start_send(message);
    return finish();
  }
  const Place host{&outgoing_.staging, 0};
  copy(outgoing_.stream, host, message.place, message.size_bytes);
  outgoing_.stream.synchronize();
  WEFT_MPI(MPI_Send(host.address(), static_cast<int>(message.size_bytes), MPI_BYTE, message.peer, message.tag,
                    MPI_COMM_WORLD));
}

void StagedTransport::receive(const Message& message) {
  if (!whole(message)) {
    start_receive(message);
    return finish();
  }
  const Place host{&incoming_.staging, 0};
  WEFT_MPI(MPI_Recv(host.address(), static_cast<int>(message.size_bytes), MPI_BYTE, message.peer, message.tag,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  copy(incoming_.stream, message.place, host, message.size_bytes);
  incoming_.stream.synchronize();
}

void StagedTransport::start_send(const Message& message) {
  outgoing_.waiting.add(message);
  copy_out();
}

void StagedTransport::start_receive(const Message& message) {
  incoming_.waiting.add(message);
  post_receives();
}

void StagedTransport::finish() {
  // Both directions at once: a rank that waited for one only would keep its peer waiting for the other.
  while (!outgoing_.idle() || !incoming_.idle()) {
    const bool received = progress_incoming(), sent = progress_outgoing();
    // The host backend's copies need a core too, perhaps this one.
    if (!received && !sent) std::this_thread::yield();
  }
}

void StagedTransport::copy_out() {
  for (Direction& d = outgoing_; d.may_enter(); ++d.entered) {
    Slot& slot = d.slot(d.entered);
    slot.piece = d.waiting.next(chunk_bytes_);
    copy(d.stream, d.host(d.entered), slot.piece.place, slot.piece.size_bytes);
    slot.copied.record(d.stream);
  }
}

bool StagedTransport::progress_outgoing() {
  Direction& d = outgoing_;
  const std::size_t before = d.entered + d.moved + d.left;
  copy_out();
  if (d.moved < d.entered) {
    Slot& slot = d.slot(d.moved);
    slot.copied.synchronize();
    WEFT_MPI(MPI_Isend(d.host(d.moved).address(), static_cast<int>(slot.piece.size_bytes), MPI_BYTE,
                       slot.piece.peer, slot.piece.tag, MPI_COMM_WORLD, &slot.request));
    ++d.moved;
  }
  if (d.left < d.moved) {
    int sent = 0;
    WEFT_MPI(MPI_Test(&d.slot(d.left).request, &sent, MPI_STATUS_IGNORE));
    if (sent) ++d.left;
  }
  return d.entered + d.moved + d.left != before;
}

void StagedTransport::post_receives() {
  for (Direction& d = incoming_; d.may_enter(); ++d.entered) {
    Slot& slot = d.slot(d.entered);
    slot.piece = d.waiting.next(chunk_bytes_);
    WEFT_MPI(MPI_Irecv(d.host(d.entered).address(), static_cast<int>(slot.piece.size_bytes), MPI_BYTE,
                       slot.piece.peer, slot.piece.tag, MPI_COMM_WORLD, &slot.request));
  }
}

bool StagedTransport::progress_incoming() {
  Direction& d = incoming_;
  const std::size_t before = d.entered + d.moved + d.left;
  post_receives();
  if (d.moved < d.entered) {
    Slot& slot = d.slot(d.moved);
    int arrived = 0;
    WEFT_MPI(MPI_Test(&slot.request, &arrived, MPI_STATUS_IGNORE));
    if (arrived) {
      copy(d.stream, slot.piece.place, d.host(d.moved), slot.piece.size_bytes);
      slot.copied.record(d.stream);
      ++d.moved;
    }
  }
  // The host blocks on a copy only when it has nothing else to do: the ring is full, or all has arrived.
  const bool full = d.entered - d.left == d.slots.size();
  if (d.left < d.moved && (full || d.moved == d.entered)) {
    d.slot(d.left).copied.synchronize();
    ++d.left;
  }
  return d.entered + d.moved + d.left != before;
}

}  // namespace weft
