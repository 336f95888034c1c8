// A rank's end of the messages: its buffers, its transport, and what must have arrived.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "mpi/transport.hpp"
#include "pt2pt/axes.hpp"

namespace weft {

/// As OSU's benchmarks do, all messages of a window leave from one buffer and arrive in one.
class Endpoint {
 public:
  Endpoint(const World& world, Memory placement, std::uint64_t capacity_bytes,
           std::size_t staging_capacity_bytes);

  Transport& transport() { return *transport_; }
  Message outgoing(int peer, std::uint64_t size_bytes) const { return {{&outgoing_, 0}, size_bytes, peer}; }
  Message incoming(int peer, std::uint64_t size_bytes) const { return {{&incoming_, 0}, size_bytes, peer}; }

  /// Overwrites what arrived before, so that it cannot pass for what is to arrive.
  void poison(std::uint64_t size_bytes);
  /// How many bytes are not those that rank `sender` sends.
  std::uint64_t wrong_bytes(std::uint64_t size_bytes, int sender) const;

 private:
  Buffer outgoing_, incoming_;
  std::unique_ptr<Transport> transport_;
};

/// The endpoint of the configurations measured last: those of one placement share it.
class Workbench {
 public:
  /// `messages`: how many are started in one direction before a finish.
  Workbench(const World& world, std::vector<Configuration> configurations, std::size_t messages);

  /// Why a configuration cannot be measured here.
  std::optional<std::string> unsupported(const Configuration& configuration) const;
  /// The endpoint, with its transport ready for the configuration. Throws when memory does not suffice.
  Endpoint& endpoint(const Configuration& configuration);
  Traffic traffic(const Configuration& configuration) const;

 private:
  const World& world_;
  std::vector<Configuration> configurations_;
  std::size_t messages_;
  std::optional<Memory> placement_;
  std::unique_ptr<Endpoint> endpoint_;
};

}  // namespace weft
