// What every benchmark of p2p moves: bytes whose arrival can be verified, by a copy engine or a kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/benchmark.hpp"
#include "core/device.hpp"
#include "core/timing.hpp"
#include "p2p/copy_kernel.hpp"

namespace weft {

/// Some of a payload's bytes.
struct Part {
  std::size_t offset_bytes, size_bytes;
};

/// How operations reach their streams: held behind a gate until all are enqueued, as they come (copies that
/// may block the host), or as graphs launched behind the gate.
enum class Feed { gated, ungated, graph };

/// Runs operations and says how long they took: what a sampler takes its samples with.
using Timer = std::function<double(std::size_t operations)>;

/// Two buffers and the bytes that go from one to the other. The source holds a pattern of its own, so that
/// bytes of another transfer are found out; the destination holds something else until they arrive.
class Transfer {
 public:
  /// Allocates for at most `capacity_bytes` and fills the source.
  Transfer(Memory source_memory, int source, Memory destination_memory, int destination,
           std::size_t capacity_bytes);
  /// Between the memories of two devices.
  Transfer(int source, int destination, std::size_t capacity_bytes)
      : Transfer(Memory::device, source, Memory::device, destination, capacity_bytes) {}

  /// Overwrites the first `size_bytes` of the destination, and some bytes behind them.
  void reset(std::size_t size_bytes);
  /// Bytes that are not what they should be: the source's, and behind them those of reset().
  std::uint64_t wrong_bytes(std::size_t size_bytes) const;

  Place source(std::size_t offset_bytes = 0) const { return {&source_, offset_bytes}; }
  Place destination(std::size_t offset_bytes = 0) const { return {&destination_, offset_bytes}; }

  /// The device whose engine works: the source's for a write, the destination's for a read.
  int executor(const std::string& operation) const;
  /// A lane that moves `part`, once per operation: by the copy engine of the stream's device, or by a kernel.
  Lane lane(Stream& stream, Part part, const std::optional<KernelGrid>& kernel = std::nullopt) const;
  Lane lane(Stream& stream, std::size_t size_bytes) const { return lane(stream, {0, size_bytes}); }

 private:
  Buffer source_, destination_;
  std::uint64_t seed_;
};

/// Samples `lanes`, which start together, and verifies what they moved: all of `transfers`, `size_bytes`
/// each, per operation. `reset` is called when the destinations are, for whatever else could still hold the
/// bytes.
Measurement measure(const Run& run, std::vector<Transfer>& transfers, std::size_t size_bytes,
                    const std::vector<Lane>& lanes, Feed feed, const std::function<void()>& reset = {});

/// The same of operations that `timer` runs.
Measurement measure(const Run& run, std::vector<Transfer>& transfers, std::size_t size_bytes,
                    const Timer& timer, const std::function<void()>& reset = {});

/// Why peer access between two devices cannot be had, if so.
std::optional<std::string> without_peer_access(int a, int b);

}  // namespace weft
