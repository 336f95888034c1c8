#include <fstream>

#include "core/device.hpp"
#include "core/environment.hpp"

namespace weft {

namespace {

/// 13000 is 13.0.
std::string cuda_version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

}  // namespace

Json device_software() {
  int runtime = 0, driver = 0;
  WEFT_CUDA(cudaRuntimeGetVersion(&runtime));
  WEFT_CUDA(cudaDriverGetVersion(&driver));
  std::string nvidia_driver;
  std::ifstream("/sys/module/nvidia/version") >> nvidia_driver;
  return Json::object({{"cuda_runtime", cuda_version(runtime)},
                       {"cuda_driver", cuda_version(driver)},
                       {"nvidia_driver", nvidia_driver.empty() ? Json() : Json(nvidia_driver)}});
}

}  // namespace weft
