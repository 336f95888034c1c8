// p2p.host: bytes between a device and host memory, pinned or pageable, one way or both at once.
#include "p2p/axes.hpp"
#include "p2p/memory.hpp"
#include "p2p/transfer.hpp"

namespace weft {

namespace {

struct Point {
  int device;
  std::string memory, direction;
  std::uint64_t size_bytes;

  bool to_device() const { return direction != "device_to_host"; }
  bool to_host() const { return direction != "host_to_device"; }
  Memory host_memory() const { return memory == "pinned" ? Memory::pinned : Memory::pageable; }

  std::vector<Need> needs(std::uint64_t capacity_bytes) const {
    const std::uint64_t each = capacity_bytes * (to_device() && to_host() ? 2 : 1);
    return {{Memory::device, device, each}, {host_memory(), device, each}};
  }
};

std::vector<Transfer> make_transfers(const Point& point, std::uint64_t capacity_bytes) {
  std::vector<Transfer> transfers;
  if (point.to_device())
    transfers.emplace_back(point.host_memory(), point.device, Memory::device, point.device, capacity_bytes);
  if (point.to_host())
    transfers.emplace_back(Memory::device, point.device, point.host_memory(), point.device, capacity_bytes);
  return transfers;
}

Measurement run_point(const Run& run, Workspace& workspace, const Point& point,
                      std::uint64_t capacity_bytes) {
  const std::string family =
      "host " + std::to_string(point.device) + " " + point.memory + " " + point.direction;
  auto& transfers =
      workspace.of<std::vector<Transfer>>(family, [&] { return make_transfers(point, capacity_bytes); });
  std::vector<Stream> streams;
  for (std::size_t i = 0; i < transfers.size(); ++i)
    streams.emplace_back(point.device);
  std::vector<Lane> lanes;
  for (std::size_t i = 0; i < transfers.size(); ++i)
    lanes.push_back(transfers[i].lane(streams[i], "copy_engine", point.size_bytes));
  // Copies of pageable memory block their caller, and would wait for ever behind a gate.
  return measure(run, transfers, point.size_bytes, lanes, point.host_memory() == Memory::pinned);
}

Case make_case(const Run& run, const Point& point, std::uint64_t capacity_bytes) {
  Case c;
  c.identity = Json::object({{"device", point.device},
                             {"memory", point.memory},
                             {"direction", point.direction},
                             {"size_bytes", point.size_bytes}});
  c.label = std::to_string(point.device) + " " + format_size(point.size_bytes) + " " + point.direction + " " +
            point.memory;
  c.devices = {point.device};
  c.unsupported = [point] { return exceeds_memory(point.needs(point.size_bytes)); };
  c.run = [&run, workspace = Workspace::shared(), point, capacity_bytes] {
    return run_point(run, *workspace, point, capacity_bytes);
  };
  return c;
}

std::vector<Case> cases(const Run& run) {
  const Axes axes(run.options);
  std::vector<Case> result;
  for (const int device : axes.devices) {
    for (const auto& memory : axes.memory) {
      for (const auto& direction : axes.host_directions) {
        Point point{device, memory, direction, 0};
        const auto capacity = largest_fitting(axes.sizes, [&](auto size) { return point.needs(size); });
        for (const auto size : axes.sizes) {
          point.size_bytes = size;
          result.push_back(make_case(run, point, capacity));
        }
      }
    }
  }
  return result;
}

const Registered host_benchmark{
    {"host",
     "copies between a device and host memory placed near it",
     {{"device", "", "device at the end of the host link"},
      {"memory", "", "pinned or pageable host memory"},
      {"direction", "", "host_to_device, device_to_host, or bidirectional: both at once"},
      {"size_bytes", "B", "payload in one direction"}},
     cases}};

}  // namespace

}  // namespace weft
