// A number that kernels count up on a device, for the host to read.
#pragma once

#include "core/device.hpp"

namespace weft {

/// Begins at zero when the stream comes to where it was made. One at a time on a device.
class Tally {
 public:
  explicit Tally(Stream& stream);
  /// Where kernels of the stream add to it.
  unsigned long long* address() const;
  /// Waits for the stream.
  unsigned long long read();

 private:
  Stream& stream_;
  const Buffer &counted_, &seen_;
};

}  // namespace weft
