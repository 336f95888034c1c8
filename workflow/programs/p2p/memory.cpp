#include "p2p/memory.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>

namespace weft {

namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

std::uint64_t meminfo_available() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("MemAvailable:", 0) == 0) return std::stoull(line.substr(13)) * 1024;
  }
  return unlimited;
}

/// What a control group (version 2) still allows; file pages that it could drop count as free.
std::uint64_t available_in(const std::filesystem::path& group) {
  std::ifstream limit_file(group / "memory.max"), used_file(group / "memory.current"),
      stat_file(group / "memory.stat");
  std::uint64_t limit = 0, used = 0, value = 0;
  if (!(limit_file >> limit) || !(used_file >> used)) return unlimited;  // absent, or the word "max"
  for (std::string key; stat_file >> key >> value;) {
    if (key == "inactive_file") used -= std::min(used, value);
  }
  return limit - std::min(limit, used);
}

/// The least that this process's control group and those around it allow: a batch system limits a job, not
/// its steps.
std::uint64_t control_groups_available() {
  const std::filesystem::path root = "/sys/fs/cgroup";
  std::uint64_t least = available_in(root);
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("0::/", 0) != 0) continue;
    for (std::filesystem::path group = line.substr(4); !group.empty(); group = group.parent_path())
      least = std::min(least, available_in(root / group));
  }
  return least;
}

std::uint64_t host_available() {
  static const std::uint64_t at_start = std::min(meminfo_available(), control_groups_available());
  return at_start;
}

std::uint64_t device_total(int device) {
  static std::map<int, std::uint64_t> totals;  // asking costs milliseconds on a GPU
  auto known = totals.find(device);
  if (known == totals.end()) known = totals.emplace(device, device_properties(device).memory_bytes).first;
  return known->second;
}

std::string gib(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g GiB", static_cast<double>(bytes) / (1 << 30));
  return text;
}

}  // namespace

std::shared_ptr<Workspace> Workspace::shared() {
  static std::weak_ptr<Workspace> existing;
  auto workspace = existing.lock();
  if (!workspace) existing = workspace = std::make_shared<Workspace>();
  return workspace;
}

std::optional<std::string> exceeds_memory(const std::vector<Need>& needs) {
  std::uint64_t host_bytes = 0;
  std::map<int, std::uint64_t> device_bytes;
  for (const Need& need : needs) {
    const bool on_device = backend() == Backend::cuda && need.memory == Memory::device;
    (on_device ? device_bytes[need.device] : host_bytes) += need.bytes;
  }
  if (host_bytes > host_available() / 2)
    return "its buffers need " + gib(host_bytes) + ", more than half of the " + gib(host_available()) +
           " of host memory that are available";
  for (const auto& [device, bytes] : device_bytes) {
    const std::uint64_t total = device_total(device);
    if (bytes > total / 2)
      return "its buffers need " + gib(bytes) + " on device " + std::to_string(device) +
             ", more than half of its " + gib(total);
  }
  return std::nullopt;
}

}  // namespace weft
