#include "p2p/memory.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#include "core/host_memory.hpp"

namespace weft {

namespace {

std::uint64_t host_available() {
  static const std::uint64_t at_start = available_host_memory_bytes();
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
