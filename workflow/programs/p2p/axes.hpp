// The options of p2p and the axes that they span.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/options.hpp"
#include "p2p/copy_kernel.hpp"

namespace weft {

/// Which route chunks are measured: the whole payload at once, chunks of given sizes, or the best one found.
struct Chunks {
  bool plain = false;
  bool search = false;
  std::vector<std::uint64_t> sizes_bytes;
};

/// Everything p2p was asked to vary. The constructor throws UsageError with one sentence for what cannot be.
struct Axes {
  explicit Axes(const Options& options);

  std::vector<std::uint64_t> sizes;  ///< bytes, any number from 1 on: no element is larger than a byte
  std::vector<std::pair<int, int>> pairs;
  std::vector<int> devices, via;
  std::vector<std::string> engines, operations, directions, batching, memory, host_directions, host_patterns,
      patterns, methods, addresses, results;
  std::vector<bool> peer_access;
  std::vector<int> streams;
  std::optional<KernelGrid> kernel_grid;  ///< none: the one found best
  Chunks chunks;
};

void declare_axes(Options& options);

}  // namespace weft
