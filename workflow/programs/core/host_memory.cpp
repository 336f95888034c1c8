#include "core/host_memory.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

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

}  // namespace

std::uint64_t available_host_memory_bytes() {
  return std::min(meminfo_available(), control_groups_available());
}

}  // namespace weft
