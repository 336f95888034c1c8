#include "topology/facts.hpp"

#include "topology/nics.hpp"
#include "topology/sysfs.hpp"

namespace weft {

std::vector<Json> topology_facts(const Run& run, const std::filesystem::path& sysfs) {
  const std::vector<DeviceFacts> devices = find_devices(run, sysfs);
  const std::vector<Nic> nics = find_nics(sysfs);
  const int numa_nodes = numa_node_count(sysfs);

  std::vector<Json> records;
  for (const DeviceFacts& facts : devices)
    records.push_back(facts.device);
  for (const DeviceFacts& facts : devices)
    records.insert(records.end(), facts.links.begin(), facts.links.end());
  for (std::size_t i = 0; i < nics.size(); ++i) {
    const Nic& nic = nics[i];
    records.push_back(Json::object({{"record", "nic"},
                                    {"nic", i},
                                    {"name", nic.name},
                                    {"kind", nic.kind},
                                    {"pci_bus_id", nic.place.bus_id()},
                                    {"numa_node", nic.place.numa_node},
                                    {"rate_bytes_per_s", nic.rate_bytes_per_s},
                                    {"state", nic.state}}));
  }
  for (std::size_t device = 0; device < devices.size(); ++device)
    for (std::size_t nic = 0; nic < nics.size(); ++nic)
      records.push_back(
          Json::object({{"record", "nic_link"},
                        {"device", device},
                        {"nic", nic},
                        {"link_class", link_class(devices[device].place, nics[nic].place, numa_nodes)}}));
  return records;
}

}  // namespace weft
