// How much host memory there is to take.
#pragma once

#include <cstdint>

namespace weft {

/// What the kernel would give without swapping, within the limits of this process's control groups (version
/// 2). A kernel that does not tell counts as having no limit.
std::uint64_t available_host_memory_bytes();

}  // namespace weft
