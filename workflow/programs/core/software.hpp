// Versions of what the device backend stands on.
#pragma once

#include "core/json.hpp"

namespace weft {

/// Members of environment.software: cuda_runtime, cuda_driver and nvidia_driver with the cuda backend, none
/// with host.
Json software_of_backend();

}  // namespace weft
