#include "topology/pci.hpp"

#include <algorithm>
#include <regex>

#include "topology/sysfs.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

bool is_function(const std::string& name) {
  static const std::regex pattern("[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");
  return std::regex_match(name, pattern);
}

bool is_host_bridge(const std::string& name) {
  static const std::regex pattern("pci[0-9a-f]{4,8}:[0-9a-f]{2}");
  return std::regex_match(name, pattern);
}

}  // namespace

std::optional<std::string> PciPlace::bus_id() const {
  if (path.empty()) return std::nullopt;
  return path.back();
}

PciPlace pci_place_of(const fs::path& link) {
  std::error_code absent;
  fs::path folder = fs::canonical(link, absent);
  // Below the function may come virtio0, usb1 and the like.
  while (!absent && folder.has_relative_path() && !is_function(folder.filename()))
    folder = folder.parent_path();
  PciPlace place;
  if (absent || !folder.has_relative_path()) return place;
  bool on_pci = false;
  for (const fs::path& part : folder) {
    on_pci = on_pci || is_host_bridge(part);
    if (on_pci) place.path.push_back(part);
  }
  const std::optional<long> node = read_integer(folder / "numa_node");
  if (node && *node >= 0) place.numa_node = static_cast<int>(*node);
  place.cpu_affinity = read_line(folder / "local_cpulist");
  return place;
}

PciPlace pci_place(const fs::path& sysfs, const std::string& bus_id) {
  return pci_place_of(sysfs / "bus/pci/devices" / bus_id);
}

std::optional<std::string> numa_class(std::optional<int> a, std::optional<int> b, int numa_nodes) {
  if (numa_nodes <= 1) return "NODE";
  if (!a || !b) return std::nullopt;
  return *a == *b ? "NODE" : "SYS";
}

std::optional<std::string> link_class(const PciPlace& a, const PciPlace& b, int numa_nodes) {
  if (a.path.empty() || b.path.empty()) return numa_class(a.numa_node, b.numa_node, numa_nodes);
  if (a.path == b.path) return "X";
  const auto [end_a, end_b] = std::mismatch(a.path.begin(), a.path.end(), b.path.begin(), b.path.end());
  const auto shared = end_a - a.path.begin();
  if (shared == 0) return numa_class(a.numa_node, b.numa_node, numa_nodes);
  if (shared == 1) return "PHB";
  // A switch shows as one upstream port and below it a downstream port for every branch: two devices of one
  // switch share the upstream port, and each has at most its own downstream port besides.
  const auto ports_a = a.path.end() - end_a - 1, ports_b = b.path.end() - end_b - 1;
  return std::max(ports_a, ports_b) <= 1 ? "PIX" : "PXB";
}

std::optional<double> pcie_rate_bytes_per_s(int generation, int width) {
  // Generations 1 and 2 send 8 bits as 10, 3 to 5 send 128 as 130, 6 puts 236 bytes of packets into a flit of
  // 256.
  switch (generation) {
  case 1:
    return 2.5e9 / 8 * width * 8 / 10;
  case 2:
    return 5e9 / 8 * width * 8 / 10;
  case 3:
    return 8e9 / 8 * width * 128 / 130;
  case 4:
    return 16e9 / 8 * width * 128 / 130;
  case 5:
    return 32e9 / 8 * width * 128 / 130;
  case 6:
    return 64e9 / 8 * width * 236 / 256;
  default:
    return std::nullopt;
  }
}

}  // namespace weft
