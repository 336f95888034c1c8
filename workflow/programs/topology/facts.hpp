// The records of the topology program: devices, the link of every ordered pair, adapters, and how near they
// are to devices.
#pragma once

#include <filesystem>
#include <vector>

#include "core/benchmark.hpp"
#include "core/json.hpp"
#include "topology/pci.hpp"

namespace weft {

/// A device's record and place, and its links to the other devices; each backend has its own way to find
/// them.
struct DeviceFacts {
  Json device;
  PciPlace place;
  std::vector<Json> links;
};
std::vector<DeviceFacts> find_devices(const Run& run, const std::filesystem::path& sysfs);

/// All records in the order in which they are written.
std::vector<Json> topology_facts(const Run& run, const std::filesystem::path& sysfs);

}  // namespace weft
