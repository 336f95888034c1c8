#include "p2p/relay.hpp"

#include <algorithm>

namespace weft {

namespace {

constexpr std::size_t calls_per_payload = 2, calls_per_chunk = 7;
constexpr std::size_t slots = 4;

}  // namespace

Relay::Relay(const Transfer& transfer, const Buffer& stage, std::size_t size_bytes, std::size_t chunk_bytes)
    : transfer_(transfer), stage_(stage), size_bytes_(size_bytes), chunk_bytes_(chunk_bytes),
      in_(transfer.source().buffer->device()), out_(stage.device()), begun_(out_.device()) {
  for (std::size_t slot = 0; slot < slots; ++slot) {
    filled_.emplace_back(in_.device());
    drained_.emplace_back(out_.device());
  }
}

std::size_t Relay::stage_bytes(std::size_t size_bytes, std::size_t chunk_bytes) {
  return std::min(size_bytes, slots * chunk_bytes);
}

Lane Relay::lane() {
  const std::size_t chunks = (size_bytes_ + chunk_bytes_ - 1) / chunk_bytes_;
  return {&out_, [this](std::size_t) { enqueue(); }, calls_per_payload + calls_per_chunk * chunks};
}

void Relay::enqueue() {
  begun_.record(out_);
  in_.wait(begun_);
  for (std::size_t offset = 0, slot = 0; offset < size_bytes_;
       offset += chunk_bytes_, slot = (slot + 1) % slots) {
    const std::size_t bytes = std::min(chunk_bytes_, size_bytes_ - offset);
    const Place stage{&stage_, slot * chunk_bytes_};
    if (offset >= slots * chunk_bytes_) in_.wait(drained_[slot]);
    copy(in_, stage, transfer_.source(offset), bytes);
    filled_[slot].record(in_);
    out_.wait(filled_[slot]);
    copy(out_, transfer_.destination(offset), stage, bytes);
    drained_[slot].record(out_);
  }
}

}  // namespace weft
