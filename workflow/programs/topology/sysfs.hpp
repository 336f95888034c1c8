// Small files of Linux' sysfs, under a root that tests can fabricate.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/// The first line of a file without its end; empty where it cannot be read, as some attributes of sysfs
/// cannot.
std::optional<std::string> read_line(const std::filesystem::path& file);

/// The integer that a file holds, if it holds one.
std::optional<long> read_integer(const std::filesystem::path& file);

/// The names in a folder, sorted; none where there is no such folder.
std::vector<std::string> names_in(const std::filesystem::path& folder);

/// How many NUMA nodes the machine has; 1 where the kernel tells of none.
int numa_node_count(const std::filesystem::path& sysfs);

/// The size of all last-level caches together; 0 where unknown.
std::size_t last_level_cache_bytes(const std::filesystem::path& sysfs);

}  // namespace weft
