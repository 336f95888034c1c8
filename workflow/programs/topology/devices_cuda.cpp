// CUDA backend: devices and NVLinks as CUDA and NVML tell of them, PCIe distances from sysfs. All limits are
// computed.
#include <algorithm>
#include <cstdio>

#include "core/device.hpp"
#include "core/nvml.hpp"
#include "topology/facts.hpp"
#include "topology/nvlink.hpp"
#include "topology/sysfs.hpp"

namespace weft {
namespace {

struct Gpu {
  DeviceProperties properties;
  PciPlace place;
  NvLinks nvlinks;
  std::optional<int> pcie_generation, pcie_width;
  std::optional<double> host_link_bytes_per_s, memory_bytes_per_s;

  explicit Gpu(int device);
};

/// `0000:19:00.0`, as sysfs and CUDA write it.
std::string bus_id(const nvmlPciInfo_t& pci) {
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", pci.domain, pci.bus, pci.device);
  return text;
}

/// Megabytes per second of one link in one direction, raw: line code included, packet headers not taken off.
std::optional<double> nvlink_rate(const nvml::Device& device, unsigned link) {
  const auto answers =
      device.read({{NVML_FI_DEV_NVLINK_GET_SPEED, link}, {NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON, link}});
  for (const auto& rate_mb_per_s : answers)
    if (rate_mb_per_s && *rate_mb_per_s > 0) return 1e6 * static_cast<double>(*rate_mb_per_s);
  return std::nullopt;
}

NvLinks find_nvlinks(const nvml::Device& device) {
  NvLinks found;
  for (unsigned link = 0; link < NVML_NVLINK_MAX_LINKS; ++link) {
    if (WEFT_NVML(device, nvmlDeviceGetNvLinkState, nvmlEnableState_t, link) != NVML_FEATURE_ENABLED)
      continue;
    if (!found.rate_bytes_per_s) found.rate_bytes_per_s = nvlink_rate(device, link);
    const auto remote =
        WEFT_NVML(device, nvmlDeviceGetNvLinkRemoteDeviceType, nvmlIntNvLinkDeviceType_t, link);
    if (remote == NVML_NVLINK_DEVICE_TYPE_SWITCH) {
      ++found.to_switches;
      continue;
    }
    const auto pci = WEFT_NVML(device, nvmlDeviceGetNvLinkRemotePciInfo_v2, nvmlPciInfo_t, link);
    if (pci) found.peers.push_back(bus_id(*pci));
  }
  return found;
}

/// Of the memory: both edges of the clock, over the whole bus.
std::optional<double> memory_bandwidth(const nvml::Device& device, int index) {
  const auto clock_mhz = WEFT_NVML(device, nvmlDeviceGetMaxClockInfo, unsigned, NVML_CLOCK_MEM);
  int width_bits = 0;
  WEFT_CUDA(cudaDeviceGetAttribute(&width_bits, cudaDevAttrGlobalMemoryBusWidth, index));
  if (!clock_mhz || width_bits <= 0) return std::nullopt;
  return 1e6 * *clock_mhz * 2 * width_bits / 8;
}

Gpu::Gpu(int device) : properties(device_properties(device)) {
  const nvml::Device handle(device);
  nvlinks = find_nvlinks(handle);
  nvlinks.pci_bus_id = *properties.pci_bus_id;
  memory_bytes_per_s = memory_bandwidth(handle, device);
  // What device and slot can do together: the link in use now is slower while the device idles.
  const auto generation = WEFT_NVML(handle, nvmlDeviceGetMaxPcieLinkGeneration, unsigned);
  const auto width = WEFT_NVML(handle, nvmlDeviceGetMaxPcieLinkWidth, unsigned);
  if (generation) pcie_generation = static_cast<int>(*generation);
  if (width) pcie_width = static_cast<int>(*width);
  if (pcie_generation && pcie_width)
    host_link_bytes_per_s = pcie_rate_bytes_per_s(*pcie_generation, *pcie_width);
}

std::optional<double> slower(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::optional<double>(std::min(*a, *b)) : std::nullopt;
}

Json origin(const std::optional<double>& limit, const char* name) { return limit ? Json(name) : Json(); }

Json link_record(const Gpu& a, const Gpu& b, int numa_nodes) {
  const int source = a.properties.device, destination = b.properties.device;
  const std::optional<std::string> pcie_class = link_class(a.place, b.place, numa_nodes);
  const int links = nvlinks_between(a.nvlinks, b.nvlinks);
  int atomics = 0;
  WEFT_CUDA(cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, source, destination));
  Json record = Json::object({{"record", "link"},
                              {"source", source},
                              {"destination", destination},
                              {"pcie_class", pcie_class},
                              {"peer_access", can_access_peer(source, destination)},
                              {"peer_atomics", atomics != 0}});
  if (links > 0) {
    const std::optional<double> rate = slower(a.nvlinks.rate_bytes_per_s, b.nvlinks.rate_bytes_per_s);
    const std::optional<double> limit = rate ? std::optional<double>(links * *rate) : std::nullopt;
    record.set("link_class", "NV" + std::to_string(links));
    record.set("link_count", links);
    record.set("link_rate_bytes_per_s", rate);
    record.set("limit_bytes_per_s", limit);
    record.set("limit_origin", origin(limit, "nvlink"));
    record.set("switched", a.nvlinks.to_switches > 0 && b.nvlinks.to_switches > 0);
  } else {
    const std::optional<double> limit = slower(a.host_link_bytes_per_s, b.host_link_bytes_per_s);
    record.set("link_class", pcie_class);
    record.set("limit_bytes_per_s", limit);
    record.set("limit_origin", origin(limit, "pcie"));
    record.set("switched", false);
  }
  return record;
}

/// What can leave a GPU at once: by its links to the others, or where there are none through the host.
std::optional<double> egress_limit(const Gpu& gpu, int links, bool alone) {
  if (links == 0) return alone ? std::nullopt : gpu.host_link_bytes_per_s;
  if (!gpu.nvlinks.rate_bytes_per_s) return std::nullopt;
  return links * *gpu.nvlinks.rate_bytes_per_s;
}

Json device_record(const Gpu& gpu, const std::vector<Gpu>& all) {
  std::vector<NvLinks> nvlinks;
  for (const Gpu& other : all)
    nvlinks.push_back(other.nvlinks);
  const DeviceProperties& properties = gpu.properties;
  const int links = nvlinks_to_all(gpu.nvlinks, nvlinks);
  const std::optional<double> egress = egress_limit(gpu, links, all.size() == 1);
  const Json copy = gpu.memory_bytes_per_s ? Json(*gpu.memory_bytes_per_s / 2) : Json();
  return Json::object({{"record", "device"},
                       {"device", properties.device},
                       {"name", properties.name},
                       {"uuid", properties.uuid},
                       {"pci_bus_id", properties.pci_bus_id},
                       {"compute_capability", properties.compute_capability},
                       {"multiprocessors", properties.multiprocessors},
                       {"numa_node", gpu.place.numa_node},
                       {"cpu_affinity", gpu.place.cpu_affinity},
                       {"memory_bytes", properties.memory_bytes},
                       {"memory_bandwidth_bytes_per_s", gpu.memory_bytes_per_s},
                       {"memory_bandwidth_origin", origin(gpu.memory_bytes_per_s, "memory_computed")},
                       {"memory_copy_bytes_per_s", copy},
                       {"pcie_generation", gpu.pcie_generation},
                       {"pcie_width", gpu.pcie_width},
                       {"host_link_limit_bytes_per_s", gpu.host_link_bytes_per_s},
                       {"host_link_limit_origin", origin(gpu.host_link_bytes_per_s, "pcie")},
                       {"nvlink_count", gpu.nvlinks.count()},
                       {"nvlink_rate_bytes_per_s", gpu.nvlinks.rate_bytes_per_s},
                       {"egress_limit_bytes_per_s", egress},
                       {"egress_limit_origin", origin(egress, links > 0 ? "nvlink" : "pcie")}});
}

}  // namespace

std::vector<DeviceFacts> find_devices(const Run&, const std::filesystem::path& sysfs) {
  const int numa_nodes = numa_node_count(sysfs);
  std::vector<Gpu> gpus;
  for (int device = 0; device < device_count(); ++device) {
    gpus.emplace_back(device);
    gpus.back().place = pci_place(sysfs, *gpus.back().properties.pci_bus_id);
  }
  std::vector<DeviceFacts> found;
  for (const Gpu& gpu : gpus) {
    DeviceFacts facts{device_record(gpu, gpus), gpu.place, {}};
    for (const Gpu& other : gpus)
      if (other.properties.device != gpu.properties.device)
        facts.links.push_back(link_record(gpu, other, numa_nodes));
    found.push_back(std::move(facts));
  }
  return found;
}

}  // namespace weft
