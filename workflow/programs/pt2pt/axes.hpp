// The axes of the pt2pt benchmarks, as the options give them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "core/options.hpp"
#include "mpi/pairing.hpp"

namespace weft {

/// How one message travels.
struct Configuration {
  Memory placement;
  bool gpudirect;
  std::uint64_t size_bytes;
  std::optional<std::uint64_t> chunk_bytes;  ///< none: whole
  bool search = false;                       ///< the best chunk is looked for
};

constexpr int most_messages = 1 << 16;  ///< in a window

void declare_axes(Options& options);

struct Axes {
  /// Throws UsageError.
  /// `node_of_rank`: as for pair_rounds.
  Axes(const Options& options, std::vector<int> node_of_rank);

  std::vector<std::uint64_t> sizes;
  std::vector<Memory> placements;
  bool gpudirect;
  bool whole, search;  ///< of --chunks
  std::vector<std::uint64_t> chunks;
  int window;
  bool in_rounds;
  bool both_directions;  ///< of every pair, because --pairs names a kind of them
  std::vector<RankPair> pairs;
  std::vector<int> node_of_rank;

  /// In the order measured: placement, size, chunk.
  std::vector<Configuration> configurations() const;
  /// Which pairs communicate at the same time, round after round. Where both directions of a pair are one and
  /// the same measurement (`symmetric`), a kind of pairs takes each once.
  std::vector<std::vector<RankPair>> rounds(bool symmetric) const;
};

/// The chunks among which the best is looked for: 64 KiB to 16 MiB by factors of 4, and at least two of them
/// a message.
std::vector<std::uint64_t> chunk_candidates(std::uint64_t size_bytes);

}  // namespace weft
