// p2p.host: bytes between a device and host memory, pinned or pageable, one way or both at once, by one
// device or by all at once.
#include "p2p/axes.hpp"
#include "p2p/memory.hpp"
#include "p2p/transfer.hpp"

namespace weft {

namespace {

struct Point {
  std::vector<int> devices;  ///< whose links are at work, one or all at once
  std::string pattern, memory, direction;
  std::uint64_t size_bytes;

  bool to_device() const { return direction != "device_to_host"; }
  bool to_host() const { return direction != "host_to_device"; }
  Memory host_memory() const { return memory == "pinned" ? Memory::pinned : Memory::pageable; }
  bool alone() const { return pattern == "one_device"; }

  std::vector<Need> needs(std::uint64_t capacity_bytes) const {
    const std::uint64_t each = capacity_bytes * (to_device() && to_host() ? 2 : 1);
    std::vector<Need> result;
    for (const int device : devices) {
      result.push_back({Memory::device, device, each});
      result.push_back({host_memory(), device, each});
    }
    return result;
  }
};

std::optional<std::string> unsupported(const Point& point) {
  if (!point.alone() && point.devices.size() < 2)
    return "all devices at once are at least two, and one takes part";
  return exceeds_memory(point.needs(point.size_bytes));
}

std::vector<Transfer> make_transfers(const Point& point, std::uint64_t capacity_bytes) {
  std::vector<Transfer> transfers;
  for (const int device : point.devices) {
    if (point.to_device())
      transfers.emplace_back(point.host_memory(), device, Memory::device, device, capacity_bytes);
    if (point.to_host())
      transfers.emplace_back(Memory::device, device, point.host_memory(), device, capacity_bytes);
  }
  return transfers;
}

Measurement run_point(const Run& run, Workspace& workspace, const Point& point,
                      std::uint64_t capacity_bytes) {
  const std::string family = "host " + (point.alone() ? std::to_string(point.devices[0]) : "all") + " " +
                             point.memory + " " + point.direction;
  auto& transfers =
      workspace.of<std::vector<Transfer>>(family, [&] { return make_transfers(point, capacity_bytes); });
  std::vector<Stream> streams;
  for (const Transfer& transfer : transfers)
    streams.emplace_back(transfer.executor("write"));
  std::vector<Lane> lanes;
  for (std::size_t i = 0; i < transfers.size(); ++i)
    lanes.push_back(transfers[i].lane(streams[i], point.size_bytes));
  // Copies of pageable memory block their caller, and would wait for ever behind a gate.
  return measure(run, transfers, point.size_bytes, lanes,
                 point.host_memory() == Memory::pinned ? Feed::gated : Feed::ungated);
}

Case make_case(const Run& run, const Point& point, std::uint64_t capacity_bytes) {
  Case c;
  c.identity = Json::object({{"pattern", point.pattern},
                             {"device", point.alone() ? Json(point.devices[0]) : Json()},
                             {"memory", point.memory},
                             {"direction", point.direction},
                             {"size_bytes", point.size_bytes}});
  if (!point.alone()) c.identity.set("devices", point.devices);
  c.label = (point.alone() ? std::to_string(point.devices[0]) : "all") + " " + format_size(point.size_bytes) +
            " " + point.direction + " " + point.memory;
  c.devices = point.devices;
  c.unsupported = [point] { return unsupported(point); };
  c.run = [&run, workspace = Workspace::shared(), point, capacity_bytes] {
    return run_point(run, *workspace, point, capacity_bytes);
  };
  return c;
}

/// The cases of one device, or of all at once.
void add_links(std::vector<Case>& result, const Run& run, const Axes& axes, Point point) {
  for (const auto& memory : axes.memory) {
    for (const auto& direction : axes.host_directions) {
      point.memory = memory;
      point.direction = direction;
      const auto capacity = largest_fitting(axes.sizes, [&](auto size) { return point.needs(size); });
      for (const auto size : axes.sizes) {
        point.size_bytes = size;
        result.push_back(make_case(run, point, capacity));
      }
    }
  }
}

std::vector<Case> cases(const Run& run) {
  const Axes axes(run.options);
  std::vector<Case> result;
  for (const auto& pattern : axes.host_patterns) {
    if (pattern == "all_devices") {
      add_links(result, run, axes, {axes.devices, pattern, {}, {}, 0});
      continue;
    }
    for (const int device : axes.devices)
      add_links(result, run, axes, {{device}, pattern, {}, {}, 0});
  }
  return result;
}

const Registered host_benchmark{
    {"host",
     "copies between a device and host memory placed near it; by all devices at once, the sum of their bytes "
     "until the last has arrived",
     {{"pattern", "", "one_device, or all_devices: all of them at once"},
      {"device", "", "device at the end of the host link; null: all"},
      {"devices", "", "participants of all_devices"},
      {"memory", "", "pinned or pageable host memory"},
      {"direction", "", "host_to_device, device_to_host, or bidirectional: both at once"},
      {"size_bytes", "B", "payload in one direction"}},
     cases}};

}  // namespace

}  // namespace weft
