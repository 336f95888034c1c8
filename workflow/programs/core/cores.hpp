// The cores that this process may use, by NUMA node, and their distribution over the devices of the host
// backend.
#pragma once

#include <string>
#include <vector>

namespace weft {

/// `0-3,8` as Linux writes CPU lists; throws std::invalid_argument on anything else.
std::vector<int> parse_cpu_list(const std::string& text);
std::string format_cpu_list(const std::vector<int>& cores);

/// The cores of this process's affinity mask, ascending.
std::vector<int> usable_cores();

/// Cores of one NUMA node.
struct NumaNode {
  int node = 0;
  std::vector<int> cores;
};

/// The NUMA nodes that hold at least one core of this process's affinity mask, ascending; one node 0 where
/// the kernel tells of none.
std::vector<NumaNode> usable_numa_nodes();

/// The cores of this process's affinity mask on the NUMA node of a PCI device (`0000:19:00.0`); empty where
/// unknown.
std::vector<int> usable_cores_near_pci(const std::string& pci_bus_id);

/// Devices alternate between the NUMA nodes; the cores of a node are divided among its devices, and shared
/// round robin where there are more devices than cores. Element i is the place of device i.
std::vector<NumaNode> place_devices(const std::vector<NumaNode>& nodes, int device_count);

/// Keeps the calling thread on these cores.
void pin_this_thread(const std::vector<int>& cores);

}  // namespace weft
