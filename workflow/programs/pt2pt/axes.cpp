#include "pt2pt/axes.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace weft {

namespace {

constexpr std::uint64_t smallest_candidate = 64 << 10, largest_candidate = 16 << 20;

/// Device memory handed to a library without GPUDirect is no transport: it is left out, and refused when
/// alone.
std::vector<Memory> read_placements(const Options& options, bool gpudirect) {
  std::vector<Memory> placements;
  for (const std::string& name : options.choices("placements", {"device", "pinned", "pageable"})) {
    const Memory memory = name == "device"   ? Memory::device
                          : name == "pinned" ? Memory::pinned
                                             : Memory::pageable;
    if (memory != Memory::device || gpudirect) placements.push_back(memory);
  }
  if (placements.empty())
    throw UsageError(
        "--placements device needs --gpudirect on: without it no buffer of a device goes to MPI; name "
        "pinned or pageable.");
  return placements;
}

bool is_kind(const std::string& pairs) {
  return pairs == "all" || pairs == "inter_node" || pairs == "node_pairs";
}

std::vector<RankPair> read_pairs(const Options& options, const std::vector<int>& node_of_rank) {
  const std::string text = options.text("pairs");
  if (text == "all" || !is_kind(text))
    return options.pairs("pairs", static_cast<int>(node_of_rank.size()), "ranks");
  std::vector<RankPair> pairs = pairs_between_nodes(node_of_rank, text == "node_pairs");
  if (pairs.empty())
    throw UsageError("--pairs " + text +
                     " needs ranks on two nodes or more, but all are on one; start them on more, or name "
                     "other pairs.");
  return pairs;
}

}  // namespace

void declare_axes(Options& options) {
  options.add("sizes", "SIZES", "bytes of a message: a list, or LOW:HIGH:xFACTOR", "4:4MiB:x4");
  options.add("placements", "LIST", "where the buffer that MPI sees lies: device, pinned, pageable",
              "device,pinned,pageable");
  options.add("gpudirect", "on|off",
              "what the launcher's environment decided; recorded; off leaves out placement device", "on");
  options.add("chunks", "SIZES", "none (whole messages), auto (also the best chunk found), or chunk sizes",
              "none");
  options.add("window", "N", "messages in flight, of the bandwidths and the message rate", "64");
  options.add("schedule", "HOW",
              "sequential (a pair at a time) or rounds (as many pairs at once as have no rank in common, "
              "and between nodes no node)",
              "sequential");
  options.add(
      "pairs", "PAIRS",
      "all, inter_node (all whose ends lie on different nodes), node_pairs (of these, between the first "
      "ranks of the nodes), or SOURCE:DESTINATION,...",
      "all");
}

Axes::Axes(const Options& options, std::vector<int> nodes)
    : sizes(options.sizes("sizes")), gpudirect(options.choice("gpudirect", {"on", "off"}) == "on"),
      whole(true), search(false), window(static_cast<int>(options.integer("window", 1, most_messages))),
      in_rounds(options.choice("schedule", {"sequential", "rounds"}) == "rounds"),
      both_directions(is_kind(options.text("pairs"))), pairs(read_pairs(options, nodes)),
      node_of_rank(std::move(nodes)) {
  placements = read_placements(options, gpudirect);
  const std::string text = options.text("chunks");
  search = text == "auto";
  whole = search || text == "none";
  if (whole) return;
  chunks = options.sizes("chunks");
  const std::uint64_t largest = *std::max_element(sizes.begin(), sizes.end());
  for (const std::uint64_t chunk : chunks)
    if (chunk >= largest)
      throw UsageError("--chunks " + format_size(chunk) + " is not smaller than the largest of --sizes, " +
                       format_size(largest) + "; name smaller chunks or larger sizes.");
}

std::vector<Configuration> Axes::configurations() const {
  std::vector<Configuration> result;
  for (const Memory placement : placements)
    for (const std::uint64_t size : sizes) {
      if (whole) result.push_back({placement, gpudirect, size, std::nullopt});
      if (search && !chunk_candidates(size).empty())
        result.push_back({placement, gpudirect, size, std::nullopt, true});
      for (const std::uint64_t chunk : chunks)
        if (chunk < size) result.push_back({placement, gpudirect, size, chunk});
    }
  return result;
}

std::vector<std::vector<RankPair>> Axes::rounds(bool symmetric) const {
  std::vector<RankPair> wanted = pairs;
  if (symmetric && both_directions)
    wanted.erase(
        std::remove_if(wanted.begin(), wanted.end(), [](const RankPair& p) { return p.first > p.second; }),
        wanted.end());
  return in_rounds ? pair_rounds(wanted, node_of_rank) : sequential_rounds(wanted);
}

std::vector<std::uint64_t> chunk_candidates(std::uint64_t size_bytes) {
  std::vector<std::uint64_t> candidates;
  for (std::uint64_t chunk = smallest_candidate; chunk <= std::min(largest_candidate, size_bytes / 2);
       chunk *= 4)
    candidates.push_back(chunk);
  return candidates;
}

}  // namespace weft
