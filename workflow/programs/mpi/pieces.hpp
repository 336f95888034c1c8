// Messages cut into the pieces that travel one by one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "mpi/transport.hpp"

namespace weft {

/// Messages waiting to be started, handed out a piece at a time, in order.
class Pieces {
 public:
  void add(const Message& message) { messages_.push_back(message); }
  bool empty() const { return messages_.empty(); }

  /// The next piece, of at most `chunk_bytes` where that is not 0.
  Message next(std::size_t chunk_bytes) {
    Message piece = messages_[first_];
    piece.place.offset_bytes += done_bytes_;
    piece.size_bytes -= done_bytes_;
    if (chunk_bytes != 0) piece.size_bytes = std::min(piece.size_bytes, chunk_bytes);
    done_bytes_ += piece.size_bytes;
    if (done_bytes_ < messages_[first_].size_bytes) return piece;
    done_bytes_ = 0;
    if (++first_ == messages_.size()) {
      messages_.clear();
      first_ = 0;
    }
    return piece;
  }

 private:
  std::vector<Message> messages_;
  std::size_t first_ = 0, done_bytes_ = 0;
};

}  // namespace weft
