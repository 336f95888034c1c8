// NVML, loaded at run time so that neither linking nor starting needs a driver. CUDA backend only.
#pragma once

#include <nvml.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::nvml {

/// The scope of a field that stands for the sum of all NVLinks.
constexpr unsigned all_links = 0xFFFFFFFF;

struct Field {
  unsigned id;  ///< NVML_FI_DEV_...
  unsigned scope = 0;
};

/// The driver's version, where there is one.
std::optional<std::string> driver_version();

/// The address of a function of the library; null where it has none, or where there is no library.
void* symbol(const char* name);

/// A GPU as NVML sees it. What NVML does not answer (not supported, unknown to the driver, no library) is
/// empty, never 0.
class Device {
 public:
  /// Finds the GPU by its PCI bus id: NVML's own indices do not follow CUDA_VISIBLE_DEVICES.
  explicit Device(int device);

  /// Element i answers fields[i]; all are read in one call.
  std::vector<std::optional<std::uint64_t>> read(const std::vector<Field>& fields) const;

  /// Calls `Function name(handle, arguments..., Value*)`.
  template <class Function, class Value, class... Arguments>
  std::optional<Value> ask(const char* name, Arguments... arguments) const {
    auto* function = reinterpret_cast<Function*>(symbol(name));
    Value value{};
    if (!handle_ || !function || function(*handle_, arguments..., &value) != NVML_SUCCESS)
      return std::nullopt;
    return value;
  }

 private:
  std::optional<nvmlDevice_t> handle_;
};

/// A device by its index, found once.
const Device& of_device(int device);

}  // namespace weft::nvml

/// `WEFT_NVML(device, nvmlDeviceGetPowerUsage, unsigned)`: the value, or nothing. Further arguments follow
/// the type.
#define WEFT_NVML(device, function, Value, ...)                                                              \
  (device).ask<decltype(function), Value>(#function, ##__VA_ARGS__)
