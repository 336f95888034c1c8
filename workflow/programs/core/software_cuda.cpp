#include "core/device.hpp"
#include "core/nvml.hpp"
#include "core/software.hpp"

namespace weft {

/// CUDA's 13000 is 13.0.
static std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Json software_of_backend() {
  int runtime = 0, driver = 0;
  WEFT_CUDA(cudaRuntimeGetVersion(&runtime));
  WEFT_CUDA(cudaDriverGetVersion(&driver));
  return Json::object({{"cuda_runtime", version_text(runtime)},
                       {"cuda_driver", version_text(driver)},
                       {"nvidia_driver", nvml::driver_version()}});
}

}  // namespace weft
