// p2p.copy: bytes from one device to another, by copy engine or kernel, written or read, with peer access or
// staged.
#include "p2p/axes.hpp"
#include "p2p/memory.hpp"
#include "p2p/transfer.hpp"

namespace weft {

namespace {

struct Point {
  int source, destination;
  std::string direction, engine, operation;
  bool peer_access;
  std::uint64_t size_bytes;

  bool both_ways() const { return direction == "bidirectional"; }

  std::vector<Need> needs(std::uint64_t capacity_bytes) const {
    const std::uint64_t each = capacity_bytes * (both_ways() ? 2 : 1);
    return {{Memory::device, source, each}, {Memory::device, destination, each}};
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
  } else if (point.engine == "kernel") {
    return "a kernel cannot address the memory of another device without peer access";
  }
  return exceeds_memory(point.needs(point.size_bytes));
}

Measurement run_point(const Run& run, Workspace& workspace, const Point& point,
                      std::uint64_t capacity_bytes) {
  const std::string family = "copy " + std::to_string(point.source) + ":" +
                             std::to_string(point.destination) + " " + point.direction +
                             (point.peer_access ? " peer" : " staged");
  Pair& pair = workspace.of<Pair>(family, [&] { return Pair(point, capacity_bytes); });
  std::vector<Stream> streams;
  for (const Transfer& transfer : pair.transfers)
    streams.emplace_back(transfer.executor(point.operation));
  std::vector<Lane> lanes;
  for (std::size_t i = 0; i < streams.size(); ++i)
    lanes.push_back(pair.transfers[i].lane(streams[i], point.engine, point.size_bytes));
  return measure(run, pair.transfers, point.size_bytes, lanes, point.peer_access);
}

Case make_case(const Run& run, const Point& point, std::uint64_t capacity_bytes) {
  Case c;
  c.identity = Json::object({{"source", point.source},
                             {"destination", point.destination},
                             {"peer_access", point.peer_access},
                             {"direction", point.direction},
                             {"engine", point.engine},
                             {"operation", point.operation},
                             {"size_bytes", point.size_bytes}});
  c.label = std::to_string(point.source) + (point.both_ways() ? "<->" : "->") +
            std::to_string(point.destination) + " " + format_size(point.size_bytes) + " " + point.engine +
            " " + point.operation + (point.peer_access ? "" : " staged");
  c.devices = {point.source, point.destination};
  c.unsupported = [point] { return unsupported(point); };
  c.run = [&run, workspace = Workspace::shared(), point, capacity_bytes] {
    return run_point(run, *workspace, point, capacity_bytes);
  };
  return c;
}

std::vector<Case> cases(const Run& run) {
  const Axes axes(run.options);
  std::vector<Case> result;
  for (const auto& [source, destination] : axes.pairs) {
    for (const auto& direction : axes.directions) {
      for (const bool peer_access : axes.peer_access) {
        Point point{source, destination, direction, {}, {}, peer_access, 0};
        const auto capacity = largest_fitting(axes.sizes, [&](auto size) { return point.needs(size); });
        for (const auto& engine : axes.engines) {
          for (const auto& operation : axes.operations) {
            for (const auto size : axes.sizes) {
              point.engine = engine;
              point.operation = operation;
              point.size_bytes = size;
              result.push_back(make_case(run, point, capacity));
            }
          }
        }
      }
    }
  }
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
      {"engine", "", "copy_engine, or kernel: 16-byte loads and stores (needs peer access)"},
      {"operation", "", "write: the source's engine pushes; read: the destination's pulls"},
      {"size_bytes", "B", "payload in one direction"}},
     cases}};

}  // namespace

}  // namespace weft
