#include "topology/nvlink.hpp"

#include <algorithm>

namespace weft {
namespace {

int direct_links(const NvLinks& a, const NvLinks& b) {
  return static_cast<int>(std::count(a.peers.begin(), a.peers.end(), b.pci_bus_id));
}

}  // namespace

int nvlinks_between(const NvLinks& a, const NvLinks& b) {
  const int direct = direct_links(a, b);
  return direct > 0 ? direct : std::min(a.to_switches, b.to_switches);
}

int nvlinks_to_all(const NvLinks& a, const std::vector<NvLinks>& others) {
  int direct = 0, switched = 0;
  for (const NvLinks& other : others) {
    if (other.pci_bus_id == a.pci_bus_id) continue;
    direct += direct_links(a, other);
    if (other.to_switches > 0) switched = a.to_switches;
  }
  return direct + switched;
}

}  // namespace weft
