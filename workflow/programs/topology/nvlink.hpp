// NVLinks of a device: how many lead where.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace weft {

/// The NVLinks of one device that are up.
struct NvLinks {
  std::string pci_bus_id;                  ///< of the device itself
  int to_switches = 0;                     ///< links that end at an NVSwitch
  std::vector<std::string> peers;          ///< one entry a direct link: the PCI bus id at its other end
  std::optional<double> rate_bytes_per_s;  ///< one link, one direction

  int count() const { return to_switches + static_cast<int>(peers.size()); }
};

/// How many NVLinks carry data from `a` to `b`. Through switches all links of a device serve every other one.
int nvlinks_between(const NvLinks& a, const NvLinks& b);

/// How many NVLinks carry data from `a` to all `others` together: a link to something else (a CPU, a device
/// that this process does not see) does not count.
int nvlinks_to_all(const NvLinks& a, const std::vector<NvLinks>& others);

}  // namespace weft
