// Where a PCI device sits, and how far two of them are apart in the terms of `nvidia-smi topo`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// What sysfs tells of a place that data comes from or goes to.
struct PciPlace {
  std::vector<std::string> path;  ///< from the host bridge to the device: pci0000:16, 0000:16:01.0,
                                  ///< 0000:17:00.0; empty: not on PCI
  std::optional<int> numa_node;
  std::optional<std::string> cpu_affinity;

  std::optional<std::string> bus_id() const;
};

/// The place of whatever a link in sysfs leads to, e.g. class/net/eth0/device: the PCI function it belongs
/// to.
PciPlace pci_place_of(const std::filesystem::path& link);

/// The place of the PCI function `0000:19:00.0`.
PciPlace pci_place(const std::filesystem::path& sysfs, const std::string& bus_id);

/// X the same place, PIX at most one PCIe switch between them, PXB several, PHB a host bridge, NODE several
/// of one NUMA node, SYS across NUMA nodes; empty where the NUMA nodes are needed and not known.
std::optional<std::string> link_class(const PciPlace& a, const PciPlace& b, int numa_nodes);

/// NODE or SYS; empty where a node is not known although there are several.
std::optional<std::string> numa_class(std::optional<int> a, std::optional<int> b, int numa_nodes);

/// Payload rate of a PCIe link in one direction, bytes per second: transfers x width x line code. Packet
/// headers, which cost some 10 % more, depend on the payload size and are not taken off. Empty for a
/// generation not known here.
std::optional<double> pcie_rate_bytes_per_s(int generation, int width);

}  // namespace weft
