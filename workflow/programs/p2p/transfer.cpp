#include "p2p/transfer.hpp"

#include <algorithm>
#include <atomic>

#include "core/pattern.hpp"

namespace weft {

namespace {

constexpr std::size_t guard_bytes = 64;
constexpr std::uint64_t blank_seed = 0;

std::uint64_t next_seed() {
  static std::atomic<std::uint64_t> last{blank_seed};
  return ++last;
}

// A graph is launched as a whole, which takes microseconds: a sample must be long against that, and a graph
// of so many nodes is made in milliseconds.
constexpr double min_graph_sample_s = 200e-6;
constexpr std::size_t most_graph_nodes = 1024;

}  // namespace

Transfer::Transfer(Memory source_memory, int source, Memory destination_memory, int destination,
                   std::size_t capacity_bytes)
    : source_(source_memory, source, capacity_bytes),
      destination_(destination_memory, destination, capacity_bytes + guard_bytes), seed_(next_seed()) {
  fill_pattern(source_, 0, capacity_bytes, seed_);
}

void Transfer::reset(std::size_t size_bytes) {
  fill_pattern(destination_, 0, size_bytes, blank_seed);
  fill_pattern(destination_, size_bytes, guard_bytes, blank_seed);
}

std::uint64_t Transfer::wrong_bytes(std::size_t size_bytes) const {
  return count_wrong_bytes(destination_, 0, size_bytes, seed_) +
         count_wrong_bytes(destination_, size_bytes, guard_bytes, blank_seed);
}

int Transfer::executor(const std::string& operation) const {
  return operation == "write" ? source_.device() : destination_.device();
}

Lane Transfer::lane(Stream& stream, Part part, const std::optional<KernelGrid>& kernel) const {
  const Place to = destination(part.offset_bytes), from = source(part.offset_bytes);
  return {&stream, [&stream, to, from, bytes = part.size_bytes, kernel](std::size_t) {
            if (kernel)
              copy_by_kernel(stream, to, from, bytes, *kernel);
            else
              copy(stream, to, from, bytes);
          }};
}

Measurement measure(const Run& run, std::vector<Transfer>& transfers, std::size_t size_bytes,
                    const std::vector<Lane>& lanes, Feed feed, const std::function<void()>& reset) {
  // Kernels are loaded and peer memory is mapped at first use, which must not happen behind a closed gate.
  time_lanes(lanes, 1, false);
  Measurement measurement;
  if (feed == Feed::graph) {
    Run graphs = run;
    graphs.sampling.min_sample_s = std::max(graphs.sampling.min_sample_s, min_graph_sample_s);
    graphs.sampling.max_operations_per_sample = most_graph_nodes;
    GraphedLanes graphed(lanes);
    measurement = measure(
        graphs, transfers, size_bytes, [&](std::size_t operations) { return graphed.time(operations); },
        reset);
  } else {
    measurement = measure(
        run, transfers, size_bytes,
        [&](std::size_t operations) { return time_lanes(lanes, operations, feed == Feed::gated); }, reset);
  }
  ++measurement.time.operations_total;
  return measurement;
}

Measurement measure(const Run& run, std::vector<Transfer>& transfers, std::size_t size_bytes,
                    const Timer& timer, const std::function<void()>& reset) {
  for (Transfer& transfer : transfers)
    transfer.reset(size_bytes);
  if (reset) reset();
  Measurement measurement;
  measurement.time = sample(run.sampling, timer, run.team);
  for (const Transfer& transfer : transfers)
    measurement.wrong += transfer.wrong_bytes(size_bytes);
  measurement.payload_bytes = static_cast<double>(size_bytes) * static_cast<double>(transfers.size());
  return measurement;
}

std::optional<std::string> without_peer_access(int a, int b) {
  for (const auto& [device, peer] : {std::pair{a, b}, std::pair{b, a}}) {
    if (!can_access_peer(device, peer))
      return "device " + std::to_string(device) + " cannot access the memory of device " +
             std::to_string(peer);
  }
  return std::nullopt;
}

}  // namespace weft
