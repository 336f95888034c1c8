// Host backend: cores and NUMA nodes, with ceilings that are measured.
//
// A link between two host devices is the memory system. Its limit is the highest rate seen when buffers far
// beyond the last-level cache are copied by 1, 2, 4 ... all cores of the NUMA nodes involved: a measured
// ceiling, not a property of the hardware. Smaller copies, which stay in a cache, can be faster.
#include <algorithm>
#include <map>
#include <set>

#include "core/cores.hpp"
#include "core/host_memory.hpp"
#include "core/sampler.hpp"
#include "core/timing.hpp"
#include "topology/facts.hpp"
#include "topology/sysfs.hpp"

namespace weft {
namespace {

constexpr double total_budget_s = 2.0;
constexpr std::size_t smallest_copy = std::size_t{64} << 20, largest_copy = std::size_t{1} << 30;

/// Several times the caches, but no more than memory has room for.
std::size_t copy_bytes(const std::filesystem::path& sysfs) {
  const std::size_t wished = std::clamp(4 * last_level_cache_bytes(sysfs), smallest_copy, largest_copy);
  return std::min<std::uint64_t>(wished,
                                 std::max<std::uint64_t>(available_host_memory_bytes() / 16, 1 << 20));
}

/// A stream on every core of these NUMA nodes that belongs to a device.
std::vector<Stream> streams_on(const std::set<int>& nodes) {
  std::vector<Stream> streams;
  std::set<int> covered;
  for (int device = 0; device < device_count(); ++device) {
    const NumaNode& place = host_place(device);
    if (nodes.count(place.node) == 0 || covered.count(place.cores.front()) > 0) continue;
    // A stream takes the core of its device that has the fewest.
    for (int core : place.cores) {
      covered.insert(core);
      streams.emplace_back(device);
    }
  }
  return streams;
}

/// Element i is a part of the copy, on stream i.
std::vector<Lane> divide(std::vector<Stream>& streams, std::size_t count, const Buffer& source,
                         const Buffer& destination) {
  std::vector<Lane> lanes;
  const std::size_t part = source.size_bytes() / count / 4096 * 4096;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = i * part, size = i + 1 < count ? part : source.size_bytes() - begin;
    Stream& stream = streams[i];
    lanes.push_back({&stream, [&stream, &source, &destination, begin, size](std::size_t) {
                       copy(stream, {&destination, begin}, {&source, begin}, size);
                     }});
  }
  return lanes;
}

/// Numbers of cores to try: 1, 2, 4 ... and all.
std::vector<std::size_t> steps(std::size_t cores) {
  std::vector<std::size_t> counts;
  for (std::size_t count = 1; count < cores; count *= 2)
    counts.push_back(count);
  counts.push_back(cores);
  return counts;
}

/// The highest rate of a copy from the memory of one device to that of another, payload bytes per second.
double copy_ceiling(const Run& run, int source, int destination, std::size_t size_bytes, double budget_s) {
  const Buffer from(Memory::device, source, size_bytes), to(Memory::device, destination, size_bytes);
  const PeerAccess access(source, destination);
  std::vector<Stream> streams = streams_on({host_place(source).node, host_place(destination).node});
  const std::vector<std::size_t> counts = steps(streams.size());
  SamplerOptions sampling = run.sampling;
  sampling.budget_s = budget_s / static_cast<double>(counts.size());
  double best_s = 0;
  for (std::size_t count : counts) {
    const std::vector<Lane> lanes = divide(streams, count, from, to);
    const auto batch = [&](std::size_t operations) { return time_lanes(lanes, operations); };
    const TimeSummary time = sample(sampling, batch, run.team);
    const double fastest_s = *std::min_element(time.samples_s.begin(), time.samples_s.end());
    best_s = best_s == 0 ? fastest_s : std::min(best_s, fastest_s);
  }
  return static_cast<double>(size_bytes) / best_s;
}

/// The ceiling from every NUMA node that holds a device to every other, and within each.
std::map<std::pair<int, int>, double> measure_ceilings(const Run& run, const std::filesystem::path& sysfs) {
  std::map<int, int> device_on;
  for (int device = device_count() - 1; device >= 0; --device)
    device_on[host_place(device).node] = device;
  const double pairs = static_cast<double>(device_on.size() * device_on.size());
  const std::size_t size_bytes = copy_bytes(sysfs);
  std::map<std::pair<int, int>, double> ceilings;
  for (const auto& [from, source] : device_on)
    for (const auto& [to, destination] : device_on)
      ceilings[{from, to}] = copy_ceiling(run, source, destination, size_bytes, total_budget_s / pairs);
  return ceilings;
}

}  // namespace

std::vector<DeviceFacts> find_devices(const Run& run, const std::filesystem::path& sysfs) {
  const auto ceilings = measure_ceilings(run, sysfs);
  const int numa_nodes = numa_node_count(sysfs);
  std::vector<DeviceFacts> found;
  for (int device = 0; device < device_count(); ++device) {
    const NumaNode& place = host_place(device);
    const DeviceProperties properties = device_properties(device);
    DeviceFacts facts;
    facts.place.numa_node = place.node;
    facts.place.cpu_affinity = format_cpu_list(place.cores);
    double egress_bytes_per_s = 0;
    for (int other = 0; other < device_count(); ++other) {
      if (other == device) continue;
      const int node = host_place(other).node;
      const double limit_bytes_per_s = ceilings.at({place.node, node});
      egress_bytes_per_s = std::max(egress_bytes_per_s, limit_bytes_per_s);
      const auto joined = numa_class(place.node, node, numa_nodes);
      facts.links.push_back(Json::object({{"record", "link"},
                                          {"source", device},
                                          {"destination", other},
                                          {"link_class", joined},
                                          {"pcie_class", joined},
                                          {"link_count", nullptr},
                                          {"link_rate_bytes_per_s", nullptr},
                                          {"limit_bytes_per_s", limit_bytes_per_s},
                                          {"limit_origin", "memory_measured"},
                                          {"switched", false},
                                          {"peer_access", true},
                                          {"peer_atomics", true}}));
    }
    const double local_bytes_per_s = ceilings.at({place.node, place.node});
    const bool alone = device_count() == 1;
    facts.device = Json::object({{"record", "device"},
                                 {"device", device},
                                 {"name", properties.name},
                                 {"numa_node", place.node},
                                 {"cpu_affinity", facts.place.cpu_affinity},
                                 {"memory_bytes", properties.memory_bytes},
                                 // A copy reads every byte once and writes it once.
                                 {"memory_bandwidth_bytes_per_s", 2 * local_bytes_per_s},
                                 {"memory_bandwidth_origin", "memory_measured"},
                                 {"memory_copy_bytes_per_s", local_bytes_per_s},
                                 {"host_link_limit_bytes_per_s", local_bytes_per_s},
                                 {"host_link_limit_origin", "memory_measured"},
                                 {"egress_limit_bytes_per_s", alone ? Json() : Json(egress_bytes_per_s)},
                                 {"egress_limit_origin", alone ? Json() : Json("memory_measured")}});
    found.push_back(std::move(facts));
  }
  return found;
}

}  // namespace weft
