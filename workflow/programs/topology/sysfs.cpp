#include "topology/sysfs.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>

namespace weft {
namespace {

/// `node3` with prefix `node`: 3.
bool is_numbered(const std::string& name, const std::string& prefix) {
  return name.size() > prefix.size() && name.rfind(prefix, 0) == 0 &&
         name.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
}

}  // namespace

std::optional<std::string> read_line(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line)) return std::nullopt;
  line.erase(line.find_last_not_of(" \r\t") + 1);
  return line;
}

std::optional<long> read_integer(const std::filesystem::path& file) {
  const std::optional<std::string> line = read_line(file);
  if (!line) return std::nullopt;
  long value = 0;
  const char* end = line->data() + line->size();
  const auto [stop, problem] = std::from_chars(line->data(), end, value);
  if (problem != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(folder, absent))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

int numa_node_count(const std::filesystem::path& sysfs) {
  const auto names = names_in(sysfs / "devices/system/node");
  const auto nodes = std::count_if(names.begin(), names.end(),
                                   [](const std::string& name) { return is_numbered(name, "node"); });
  return std::max(1, static_cast<int>(nodes));
}

std::size_t last_level_cache_bytes(const std::filesystem::path& sysfs) {
  long last_level = 0;
  std::map<std::string, std::size_t> size_of_cores;  // a cache is known by the cores that share it
  const std::filesystem::path cores = sysfs / "devices/system/cpu";
  for (const std::string& core : names_in(cores)) {
    if (!is_numbered(core, "cpu")) continue;
    for (const std::string& index : names_in(cores / core / "cache")) {
      const std::filesystem::path cache = cores / core / "cache" / index;
      const auto level = read_integer(cache / "level");
      const auto size = read_line(cache / "size");
      const auto sharers = read_line(cache / "shared_cpu_list");
      if (!level || !size || !sharers || *level < last_level) continue;
      if (*level > last_level) size_of_cores.clear();
      last_level = *level;
      std::size_t size_kib = 0;
      std::from_chars(size->data(), size->data() + size->size(), size_kib);
      size_of_cores[*sharers] = size_kib * 1024;
    }
  }
  std::size_t size_bytes = 0;
  for (const auto& [cores_of_cache, size] : size_of_cores)
    size_bytes += size;
  return size_bytes;
}

}  // namespace weft
