// p2p.copy: bytes from one device to another, by copy engine or kernel, written or read, with peer access or
// staged, by one stream or several, enqueued one by one or as a graph.
#include <algorithm>

#include "p2p/axes.hpp"
#include "p2p/memory.hpp"
#include "p2p/transfer.hpp"

namespace weft {

namespace {

struct Point {
  int source, destination;
  std::string direction, engine, operation, batching;
  bool peer_access;
  int streams;
  std::uint64_t size_bytes;

  bool both_ways() const { return direction == "bidirectional"; }
  bool by_kernel() const { return engine == "kernel"; }
  bool as_graph() const { return batching == "graph"; }

  std::vector<Need> needs(std::uint64_t capacity_bytes) const {
    const std::uint64_t each = capacity_bytes * (both_ways() ? 2 : 1);
    return {{Memory::device, source, each}, {Memory::device, destination, each}};
  }

  /// What each stream copies: equal parts, aligned as the copy kernel needs and caches like; fewer than
  /// streams where there are not enough bytes.
  std::vector<Part> parts() const {
    constexpr std::size_t alignment = 256;
    const std::size_t blocks = (size_bytes + alignment - 1) / alignment;
    const std::size_t largest = (blocks + streams - 1) / streams * alignment;
    std::vector<Part> result;
    for (std::size_t offset = 0; offset < size_bytes; offset += largest)
      result.push_back({offset, std::min<std::size_t>(largest, size_bytes - offset)});
    return result;
  }
};

/// The buffers of a pair, and peer access for as long as they are used.
struct Pair {
  std::optional<PeerAccess> access;
  std::vector<Transfer> transfers;

  Pair(const Point& point, std::uint64_t capacity_bytes) {
    if (point.peer_access) access.emplace(point.source, point.destination);
    transfers.emplace_back(point.source, point.destination, capacity_bytes);
    if (point.both_ways()) transfers.emplace_back(point.destination, point.source, capacity_bytes);
  }
};

std::optional<std::string> unsupported(const Point& point) {
  if (point.peer_access) {
    if (auto reason = without_peer_access(point.source, point.destination)) return reason;
  } else if (point.by_kernel()) {
    return "a kernel cannot address the memory of another device without peer access";
  } else if (point.as_graph()) {
    return "a copy that the driver stages through host memory cannot be part of a graph";
  }
  if (point.parts().size() < static_cast<std::size_t>(point.streams))
    return "a payload of " + std::to_string(point.size_bytes) + " bytes has no part for each of " +
           std::to_string(point.streams) + " streams";
  return exceeds_memory(point.needs(point.size_bytes));
}

KernelGrid grid_of(const Point& point, const Axes& axes) {
  if (axes.kernel_grid) return *axes.kernel_grid;
  return tuned_grid(point.source, point.destination, point.operation);
}

Feed feed_of(const Point& point) {
  if (point.as_graph()) return Feed::graph;
  return point.peer_access ? Feed::gated : Feed::ungated;
}

Measurement run_point(const Run& run, const Axes& axes, Workspace& workspace, const Point& point,
                      std::uint64_t capacity_bytes) {
  const std::string family = "copy " + std::to_string(point.source) + ":" +
                             std::to_string(point.destination) + " " + point.direction +
                             (point.peer_access ? " peer" : " staged");
  Pair& pair = workspace.of<Pair>(family, [&] { return Pair(point, capacity_bytes); });
  const std::vector<Part> parts = point.parts();
  std::optional<KernelGrid> grid;
  if (point.by_kernel()) grid = fitting_grid(grid_of(point, axes), parts[0].size_bytes);
  std::vector<Stream> streams;
  streams.reserve(pair.transfers.size() * parts.size());  // the lanes point at them
  std::vector<Lane> lanes;
  for (const Transfer& transfer : pair.transfers) {
    for (const Part& part : parts) {
      streams.emplace_back(transfer.executor(point.operation));
      lanes.push_back(transfer.lane(streams.back(), part, grid));
    }
  }
  Measurement measurement = measure(run, pair.transfers, point.size_bytes, lanes, feed_of(point));
  if (grid) measurement.extra.set("kernel_grid", grid->text());
  return measurement;
}

std::string label(const Point& point) {
  std::string text = std::to_string(point.source) + (point.both_ways() ? "<->" : "->") +
                     std::to_string(point.destination) + " " + format_size(point.size_bytes) + " " +
                     point.engine + " " + point.operation;
  if (!point.peer_access) text += " staged";
  if (point.streams > 1) text += " " + std::to_string(point.streams) + " streams";
  return text + (point.as_graph() ? " graph" : "");
}

Case make_case(const Run& run, const std::shared_ptr<const Axes>& axes, const Point& point,
               std::uint64_t capacity_bytes) {
  Case c;
  c.identity = Json::object({{"source", point.source},
                             {"destination", point.destination},
                             {"peer_access", point.peer_access},
                             {"direction", point.direction},
                             {"engine", point.engine},
                             {"operation", point.operation},
                             {"streams", point.streams},
                             {"batching", point.batching},
                             {"size_bytes", point.size_bytes}});
  c.label = label(point);
  c.devices = {point.source, point.destination};
  c.unsupported = [point] { return unsupported(point); };
  // Looking for the best grid moves bytes that are not this measurement's.
  if (point.by_kernel()) c.prepare = [axes, point] { grid_of(point, *axes); };
  c.run = [&run, axes, workspace = Workspace::shared(), point, capacity_bytes] {
    return run_point(run, *axes, *workspace, point, capacity_bytes);
  };
  return c;
}

/// The cases that share a pair's buffers.
void add_family(std::vector<Case>& result, const Run& run, const std::shared_ptr<const Axes>& axes,
                Point point) {
  const auto capacity = largest_fitting(axes->sizes, [&](auto size) { return point.needs(size); });
  for (const auto& engine : axes->engines) {
    for (const auto& operation : axes->operations) {
      for (const int streams : axes->streams) {
        for (const auto& batching : axes->batching) {
          for (const auto size : axes->sizes) {
            point.engine = engine;
            point.operation = operation;
            point.streams = streams;
            point.batching = batching;
            point.size_bytes = size;
            result.push_back(make_case(run, axes, point, capacity));
          }
        }
      }
    }
  }
}

std::vector<Case> cases(const Run& run) {
  const auto axes = std::make_shared<const Axes>(run.options);
  std::vector<Case> result;
  for (const auto& [source, destination] : axes->pairs)
    for (const auto& direction : axes->directions)
      for (const bool peer_access : axes->peer_access)
        add_family(result, run, axes, {source, destination, direction, {}, {}, {}, peer_access, 1, 0});
  return result;
}

const Registered copy_benchmark{
    {"copy",
     "copies between two devices; both ways at once: two buffers, the sum of the bytes until "
     "both have arrived",
     {{"source", "", "device that has the bytes"},
      {"destination", "", "device that gets them; every pair is measured as it is named"},
      {"peer_access", "", "on: straight from device to device; off: staged through host memory"},
      {"direction", "", "unidirectional, or bidirectional: both start together"},
      {"engine", "",
       "copy_engine, or kernel: 16-byte loads, several on their way, and stores (needs peer access)"},
      {"operation", "", "write: the source's engine pushes; read: the destination's pulls"},
      {"streams", "", "how many streams share a direction's payload, each an equal part"},
      {"batching", "",
       "stream: enqueued one by one behind a gate; graph: a batch of copies launched as one graph"},
      {"size_bytes", "B", "payload in one direction"}},
     cases}};

}  // namespace

}  // namespace weft
