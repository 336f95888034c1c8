#include "p2p/memory.hpp"

#include <algorithm>
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

/// What the control group that the process sees as its root still allows.
std::uint64_t control_group_available() {
  std::ifstream limit_file("/sys/fs/cgroup/memory.max"), used_file("/sys/fs/cgroup/memory.current");
  std::uint64_t limit = 0, used = 0;
  if (!(limit_file >> limit) || !(used_file >> used)) return unlimited;  // absent, or the word "max"
  return limit - std::min(limit, used);
}

std::uint64_t host_available() {
  static const std::uint64_t at_start = std::min(meminfo_available(), control_group_available());
  return at_start;
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
    const std::uint64_t total = device_properties(device).memory_bytes;
    if (bytes > total / 2)
      return "its buffers need " + gib(bytes) + " on device " + std::to_string(device) +
             ", more than half of its " + gib(total);
  }
  return std::nullopt;
}

}  // namespace weft
