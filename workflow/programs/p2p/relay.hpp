// Store and forward: a payload that reaches its destination through the memory of a third device.
#pragma once

#include <cstddef>
#include <vector>

#include "core/device.hpp"
#include "p2p/transfer.hpp"

namespace weft {

/// Copies source -> stage -> destination in chunks: while a chunk goes on from the stage, the next one comes
/// in. The stage holds four chunks, so that neither hop waits for word of the other. Both hops are writes:
/// the source's engine pushes the first, the stage's device the second.
class Relay {
 public:
  /// `chunk_bytes` is at most `size_bytes`, and then there is no overlap.
  Relay(const Transfer& transfer, const Buffer& stage, std::size_t size_bytes, std::size_t chunk_bytes);

  /// Bytes of the stage that are used.
  static std::size_t stage_bytes(std::size_t size_bytes, std::size_t chunk_bytes);

  /// Moves one payload per operation, arrived before the next one starts. A payload of more chunks than fit
  /// behind a gate is not gated: then the time holds what launching costs beyond copying, and so would a
  /// program's.
  Lane lane();

 private:
  void enqueue();

  const Transfer& transfer_;
  const Buffer& stage_;
  std::size_t size_bytes_, chunk_bytes_;
  Stream in_, out_;
  Event begun_;
  std::vector<Event> filled_, drained_;  ///< of each chunk that the stage holds
};

}  // namespace weft
