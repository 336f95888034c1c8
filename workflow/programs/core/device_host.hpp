// Host backend of the device layer. Included by core/device.hpp only.
#pragma once

#include <optional>

#include "core/cores.hpp"
#include "core/worker_host.hpp"

namespace weft {

/// The NUMA node and the cores of a device.
const NumaNode& host_place(int device);

struct Stream::Implementation {
  explicit Implementation(int device);
  ~Implementation();

  int device;
  int core;  ///< the device's core that had the fewest streams
  std::optional<Buffer> staging;
  host::Worker worker;
};

template <class Functor>
void launch(Stream& stream, std::size_t count, Functor functor) {
  static_assert(std::is_trivially_copyable_v<Functor>,
                "a kernel's functor is copied to the device byte by byte");
  auto body = [functor, count]() mutable {
    for (std::size_t i = 0; i < count; ++i)
      functor(i);
  };
  stream.implementation().worker.push(host::Task(host::Task::Kind::work, body));
}

}  // namespace weft
