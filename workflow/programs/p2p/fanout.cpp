// p2p.fanout: several transfers at once, each with its own stream and buffers.
#include <algorithm>

#include "p2p/axes.hpp"
#include "p2p/memory.hpp"
#include "p2p/transfer.hpp"

namespace weft {

namespace {

struct Point {
  std::string pattern, operation;
  std::vector<int> devices;
  std::optional<int> root;
  std::uint64_t size_bytes;

  std::vector<std::pair<int, int>> pairs() const {
    std::vector<std::pair<int, int>> result;
    for (const int source : devices) {
      for (const int destination : devices) {
        const bool wanted = pattern == "one_to_all"   ? source == *root
                            : pattern == "all_to_one" ? destination == *root
                                                      : true;
        if (source != destination && wanted) result.emplace_back(source, destination);
      }
    }
    return result;
  }

  std::vector<Need> needs(std::uint64_t capacity_bytes) const {
    std::vector<Need> result;
    for (const auto& [source, destination] : pairs()) {
      result.push_back({Memory::device, source, capacity_bytes});
      result.push_back({Memory::device, destination, capacity_bytes});
    }
    return result;
  }
};

struct Transfers {
  std::vector<PeerAccess> access;
  std::vector<Transfer> transfers;

  Transfers(const Point& point, std::uint64_t capacity_bytes) {
    for (const auto& [source, destination] : point.pairs()) {
      access.emplace_back(source, destination);
      transfers.emplace_back(source, destination, capacity_bytes);
    }
  }
};

std::optional<std::string> unsupported(const Point& point) {
  if (point.devices.size() < 2) return "a fan-out needs at least two devices, and one takes part";
  for (const auto& [source, destination] : point.pairs()) {
    if (auto reason = without_peer_access(source, destination)) return reason;
  }
  return exceeds_memory(point.needs(point.size_bytes));
}

Measurement run_point(const Run& run, Workspace& workspace, const Point& point,
                      std::uint64_t capacity_bytes) {
  const std::string family = "fanout " + point.pattern + " " + std::to_string(point.root.value_or(-1));
  Transfers& all = workspace.of<Transfers>(family, [&] { return Transfers(point, capacity_bytes); });
  std::vector<Stream> streams;
  for (const Transfer& transfer : all.transfers)
    streams.emplace_back(transfer.executor(point.operation));
  std::vector<Lane> lanes;
  for (std::size_t i = 0; i < streams.size(); ++i)
    lanes.push_back(all.transfers[i].lane(streams[i], point.size_bytes));
  return measure(run, all.transfers, point.size_bytes, lanes, Feed::gated);
}

Case make_case(const Run& run, const Point& point, std::uint64_t capacity_bytes) {
  Case c;
  c.identity = Json::object({{"pattern", point.pattern},
                             {"device", point.root},
                             {"devices", point.devices},
                             {"engine", "copy_engine"},
                             {"operation", point.operation},
                             {"peer_access", true},
                             {"size_bytes", point.size_bytes}});
  c.label = point.pattern + (point.root ? " root " + std::to_string(*point.root) : "") + " " +
            format_size(point.size_bytes) + " " + point.operation;
  c.devices = point.devices;
  c.unsupported = [point] { return unsupported(point); };
  c.run = [&run, workspace = Workspace::shared(), point, capacity_bytes] {
    return run_point(run, *workspace, point, capacity_bytes);
  };
  return c;
}

std::vector<Case> cases(const Run& run) {
  const Axes axes(run.options);
  std::vector<Case> result;
  for (const auto& pattern : axes.patterns) {
    std::vector<std::optional<int>> roots(axes.devices.begin(), axes.devices.end());
    if (pattern == "all_pairs") roots = {std::nullopt};
    for (const auto root : roots) {
      Point point{pattern, {}, axes.devices, root, 0};
      const auto capacity = largest_fitting(axes.sizes, [&](auto size) { return point.needs(size); });
      for (const auto& operation : axes.operations) {
        for (const auto size : axes.sizes) {
          point.operation = operation;
          point.size_bytes = size;
          result.push_back(make_case(run, point, capacity));
        }
      }
    }
  }
  return result;
}

const Registered fanout_benchmark{
    {"fanout",
     "several copies at once, by copy engines with peer access; the sum of their bytes "
     "until the last has arrived",
     {{"pattern", "", "one_to_all, all_to_one, or all_pairs: every ordered pair"},
      {"device", "", "the one of one_to_all and all_to_one, each participant in turn"},
      {"devices", "", "participants"},
      {"operation", "", "write: the source's engine pushes; read: the destination's pulls"},
      {"size_bytes", "B", "payload of each copy"}},
     cases}};

}  // namespace

}  // namespace weft
