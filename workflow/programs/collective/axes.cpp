#include "collective/axes.hpp"

#include <algorithm>
#include <iterator>

#include "core/error.hpp"

namespace weft::collective {

template <class Names>
static std::vector<std::string> words(const Names& names) {
  return {std::begin(names), std::end(names)};
}

/// The place of the chosen word in its enumeration.
template <class Enumeration, class Names>
static Enumeration chosen(const Options& options, const std::string& name, const Names& names) {
  const std::vector<std::string> all = words(names);
  return static_cast<Enumeration>(std::find(all.begin(), all.end(), options.choice(name, all)) - all.begin());
}

void declare_axes(Options& options) {
  options.add("library", "NAME", "mpi or nccl", "mpi")
      .add("sizes", "LIST",
           "size of the operation, as nccl-tests defines it; the next smaller fitting count is taken",
           "1KiB:16MiB:x4")
      .add("in-place", "LIST", "on: one buffer; off: two", "off,on")
      .add("participants", "LIST", "how many of the ranks take part, the first ones", "all")
      .add("counts", "LIST", "aligned: elements divisible by 16 x participants; unaligned: odd blocks",
           "aligned,unaligned")
      .add("datatype", "NAME", "float32, float64 or int32", "float32")
      .add("reduction", "NAME", "sum, max or min", "sum");
}

Axes::Axes(const Options& options, int ranks)
    : library(chosen<LibraryName>(options, "library", library_names)),
      datatype(chosen<Datatype>(options, "datatype", datatype_names)),
      reduction(chosen<Reduction>(options, "reduction", reduction_names)),
      sizes_bytes(options.sizes("sizes", element_bytes(datatype))), in_place(options.switches("in-place")) {
  for (const std::string& word : options.choices("counts", {"aligned", "unaligned"}))
    aligned.push_back(word == "aligned");
  if (options.text("participants") == "all") {
    participants = {ranks};
    return;
  }
  // Counts of ranks are indices into 0..ranks.
  for (const int count : options.indices("participants", ranks + 1, "counts of ranks")) {
    if (count < 2)
      throw UsageError("--participants names " + std::to_string(count) +
                       ", but a collective needs 2 ranks at least");
    participants.push_back(count);
  }
}

std::optional<Elements> elements_for(const Operation& operation, std::uint64_t size_bytes,
                                     std::size_t element_bytes, int ranks, bool aligned) {
  const auto n = static_cast<std::size_t>(ranks);
  std::size_t block = size_bytes / element_bytes / n;
  block = aligned ? block / 16 * 16 : block - (block % 2 == 0 && block > 0 ? 1 : 0);
  Elements elements;
  elements.total = block * n;
  // A few elements that every rank gets whole need not be divisible.
  if (block == 0 && !aligned && !operation.has_blocks()) elements.total = size_bytes / element_bytes;
  if (elements.total == 0) return std::nullopt;
  elements.count = operation.has_blocks() ? block : elements.total;
  elements.block_alignment_bytes = element_bytes;
  while (block > 0 && elements.block_alignment_bytes < 16 &&
         block * element_bytes % (2 * elements.block_alignment_bytes) == 0)
    elements.block_alignment_bytes *= 2;
  return elements;
}

}  // namespace weft::collective
