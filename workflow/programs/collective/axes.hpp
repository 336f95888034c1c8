// The axes of the collective program, read from its options, and the element counts that they give.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collective/nccl_choices.hpp"
#include "collective/operation.hpp"
#include "core/options.hpp"

namespace weft::collective {

void declare_axes(Options& options);

/// How a size becomes a count of elements; see elements_for.
enum class Counts { aligned, unaligned, nccl_tests };
constexpr const char* counts_names[] = {"aligned", "unaligned", "nccl_tests"};

struct Axes {
  /// `world_size`: processes that were started. Throws UsageError.
  Axes(const Options& options, int world_size);

  LibraryName library;
  Datatype datatype;
  Reduction reduction;
  std::vector<std::uint64_t> sizes_bytes;
  std::vector<bool> in_place, graph;
  std::vector<Counts> counts;
  Processes processes;
  NcclChoices nccl;
  std::vector<int> participants;

 private:
  void check_library(const Options& options) const;
  void read_participants(const Options& options, int world_size);
};

/// How many elements an operation gets, at most those of the size asked for.
struct Elements {
  std::size_t total = 0;  ///< of the operation's size, as nccl-tests defines it
  std::size_t count = 0;  ///< of one call: a block where the operation has blocks
  std::size_t block_alignment_bytes = 0;
};

/// Aligned: `total` is divisible by 16 x ranks. Unaligned: each rank's block is an odd number of elements, so
/// that it is aligned to one element only: the published dips at 3 and 5 ranks coincide with such blocks.
/// As nccl-tests counts: blocks are a multiple of 16 bytes, and what has no blocks has the size asked for.
/// Empty where the size has too few elements for that.
std::optional<Elements> elements_for(const Operation& operation, std::uint64_t size_bytes,
                                     std::size_t element_bytes, int ranks, Counts counts);

}  // namespace weft::collective
