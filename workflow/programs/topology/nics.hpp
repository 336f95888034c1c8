// Network adapters: RDMA devices, a port each, and the physical Ethernet interfaces that are not one of
// those.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "topology/pci.hpp"

namespace weft {

struct Nic {
  std::string name;  ///< mlx5_0, mlx5_0:2 for the second port, eth0
  std::string kind;  ///< infiniband, ethernet, other
  PciPlace place;
  std::optional<double> rate_bytes_per_s;  ///< per direction
  std::optional<std::string> state;        ///< lower case: active, down, up
};

std::vector<Nic> find_nics(const std::filesystem::path& sysfs);

}  // namespace weft
