#include "collective/axes.hpp"

#include <algorithm>
#include <iterator>

#include "core/device.hpp"
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
      .add("counts", "LIST",
           "aligned: elements divisible by 16 x participants; unaligned: odd blocks; nccl_tests: blocks of a "
           "multiple of 16 bytes",
           "aligned,unaligned")
      .add("datatype", "NAME", "float32, float64 or int32", "float32")
      .add("reduction", "NAME", "sum, max or min", "sum")
      .add("graphs", "LIST", "nccl: off: each operation is launched; on: those of a sample as one CUDA graph",
           "off")
      .add("processes", "NAME", "nccl: one_per_device, or one that drives all devices", "one_per_device")
      .add("algorithm", "NAME", "nccl: auto, ring or tree", "auto")
      .add("protocol", "NAME", "nccl: auto, simple, ll or ll128", "auto")
      .add("transport", "NAME", "nccl: auto, p2p, shm or socket", "auto");
}

Axes::Axes(const Options& options, int world_size)
    : library(chosen<LibraryName>(options, "library", library_names)),
      datatype(chosen<Datatype>(options, "datatype", datatype_names)),
      reduction(chosen<Reduction>(options, "reduction", reduction_names)),
      sizes_bytes(options.sizes("sizes", element_bytes(datatype))), in_place(options.switches("in-place")),
      graph(options.switches("graphs")), processes(chosen<Processes>(options, "processes", processes_names)),
      nccl{chosen<Algorithm>(options, "algorithm", algorithm_names),
           chosen<Protocol>(options, "protocol", protocol_names),
           chosen<Transport>(options, "transport", transport_names)} {
  const std::vector<std::string> all = words(counts_names);
  for (const std::string& word : options.choices("counts", all))
    counts.push_back(static_cast<Counts>(std::find(all.begin(), all.end(), word) - all.begin()));
  check_library(options);
  if (processes == Processes::one && world_size > 1)
    throw UsageError("--processes one drives all devices from one process, but " +
                     std::to_string(world_size) + " were started; start one.");
  read_participants(options, world_size);
}

void Axes::check_library(const Options& options) const {
  if (library == LibraryName::nccl) return;
  for (const char* name : {"processes", "algorithm", "protocol", "transport"})
    if (options.given(name))
      throw UsageError(std::string("--") + name + " " + options.text(name) +
                       " is for --library nccl, but the library is mpi.");
}

void Axes::read_participants(const Options& options, int world_size) {
  const int members = processes == Processes::one ? device_count() : world_size;
  if (options.text("participants") == "all") {
    participants = {members};
    return;
  }
  // Counts of ranks are indices into 0..members.
  for (const int count : options.indices("participants", members + 1, "counts of ranks")) {
    if (count < 2)
      throw UsageError("--participants names " + std::to_string(count) +
                       ", but a collective needs 2 ranks at least");
    participants.push_back(count);
  }
}

/// Elements of each rank's block; 0 where there are too few.
static std::size_t block_of(std::size_t elements, std::size_t element_bytes, Counts counts) {
  switch (counts) {
  case Counts::aligned:
    return elements / 16 * 16;
  case Counts::unaligned:
    return elements - (elements % 2 == 0 && elements > 0 ? 1 : 0);
  case Counts::nccl_tests:
    return elements * element_bytes / 16 * 16 / element_bytes;
  }
  return 0;
}

std::optional<Elements> elements_for(const Operation& operation, std::uint64_t size_bytes,
                                     std::size_t element_bytes, int ranks, Counts counts) {
  const auto n = static_cast<std::size_t>(ranks);
  const std::size_t asked = size_bytes / element_bytes;
  const std::size_t block = block_of(asked / n, element_bytes, counts);
  Elements elements;
  elements.total = block * n;
  // A few elements that every rank gets whole need not be divisible, and nccl-tests never divides them.
  const bool whole = !operation.has_blocks() &&
                     (counts == Counts::nccl_tests || (counts == Counts::unaligned && block == 0));
  if (whole) elements.total = asked;
  if (elements.total == 0) return std::nullopt;
  elements.count = operation.has_blocks() ? block : elements.total;
  const std::size_t handled = elements.total % n == 0 ? elements.total / n : elements.total;
  elements.block_alignment_bytes = element_bytes;
  while (elements.block_alignment_bytes < 16 &&
         handled * element_bytes % (2 * elements.block_alignment_bytes) == 0)
    elements.block_alignment_bytes *= 2;
  return elements;
}

}  // namespace weft::collective
