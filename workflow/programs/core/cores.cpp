#include "core/cores.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <stdexcept>

#include "core/error.hpp"

namespace weft {
namespace {

int parse_core(const std::string& text, std::size_t begin, std::size_t end) {
  int core = -1;
  const auto [stop, problem] = std::from_chars(text.data() + begin, text.data() + end, core);
  if (problem != std::errc() || stop != text.data() + end || core < 0)
    throw std::invalid_argument("'" + text + "' is not a CPU list such as 0-3,8");
  return core;
}

/// The cores of a CPU list file that are also in `usable`; empty where the file cannot be read.
std::vector<int> listed_cores(const std::filesystem::path& path, const std::vector<int>& usable) {
  std::ifstream file(path);
  std::string list;
  std::getline(file, list);
  std::vector<int> cores;
  for (int core : parse_cpu_list(list))
    if (std::binary_search(usable.begin(), usable.end(), core)) cores.push_back(core);
  return cores;
}

}  // namespace

std::vector<int> parse_cpu_list(const std::string& text) {
  std::vector<int> cores;
  const std::size_t size = text.find_last_not_of(" \n") + 1;
  for (std::size_t begin = 0; begin < size;) {
    const std::size_t end = std::min(text.find(',', begin), size);
    const std::size_t dash = text.find('-', begin);
    const bool range = dash < end;
    const int first = parse_core(text, begin, range ? dash : end);
    const int last = range ? parse_core(text, dash + 1, end) : first;
    for (int core = first; core <= last; ++core)
      cores.push_back(core);
    begin = end + 1;
  }
  return cores;
}

std::string format_cpu_list(const std::vector<int>& cores) {
  std::string text;
  for (std::size_t begin = 0; begin < cores.size();) {
    std::size_t end = begin;
    while (end + 1 < cores.size() && cores[end + 1] == cores[end] + 1)
      ++end;
    text += (text.empty() ? "" : ",") + std::to_string(cores[begin]);
    if (end > begin) text += "-" + std::to_string(cores[end]);
    begin = end + 1;
  }
  return text;
}

std::vector<int> usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    throw CallError("libc", "sched_getaffinity", std::strerror(errno), __FILE__, __LINE__);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

std::vector<NumaNode> usable_numa_nodes() {
  const std::vector<int> usable = usable_cores();
  std::vector<NumaNode> nodes;
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/devices/system/node", absent)) {
    const std::string name = entry.path().filename();
    if (name.rfind("node", 0) != 0) continue;
    NumaNode node;
    const char* end = name.data() + name.size();
    if (std::from_chars(name.data() + 4, end, node.node).ptr != end) continue;
    node.cores = listed_cores(entry.path() / "cpulist", usable);
    if (!node.cores.empty()) nodes.push_back(std::move(node));
  }
  std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.node < b.node; });
  if (nodes.empty()) nodes.push_back({0, usable});
  return nodes;
}

std::vector<int> usable_cores_near_pci(const std::string& pci_bus_id) {
  return listed_cores("/sys/bus/pci/devices/" + pci_bus_id + "/local_cpulist", usable_cores());
}

std::vector<NumaNode> place_devices(const std::vector<NumaNode>& nodes, int device_count) {
  const int node_count = static_cast<int>(nodes.size());
  std::vector<NumaNode> places;
  for (int device = 0; device < device_count; ++device) {
    const int which = device % node_count;
    const NumaNode& node = nodes[which];
    const int cores = static_cast<int>(node.cores.size());
    const int sharers = (device_count - which + node_count - 1) / node_count;
    const int position = device / node_count;
    NumaNode place{node.node, {}};
    if (sharers > cores) {
      place.cores = {node.cores[position % cores]};
    } else {
      place.cores.assign(node.cores.begin() + position * cores / sharers,
                         node.cores.begin() + (position + 1) * cores / sharers);
    }
    places.push_back(std::move(place));
  }
  return places;
}

void pin_this_thread(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int core : cores)
    CPU_SET(core, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    throw CallError("libc", "sched_setaffinity", std::strerror(errno), __FILE__, __LINE__);
}

}  // namespace weft
