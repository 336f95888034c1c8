#include <dlfcn.h>
#include <map>
#include <mutex>

#include "core/device.hpp"
#include "core/nvml.hpp"

namespace weft::nvml {
namespace {

/// The library, initialised; null where it is absent. It stays loaded until the process ends.
void* library() {
  static void* const loaded = []() -> void* {
    void* handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return nullptr;
    auto* initialise = reinterpret_cast<decltype(nvmlInit_v2)*>(dlsym(handle, "nvmlInit_v2"));
    return initialise && initialise() == NVML_SUCCESS ? handle : nullptr;
  }();
  return loaded;
}

std::optional<std::uint64_t> value_of(const nvmlFieldValue_t& field) {
  if (field.nvmlReturn != NVML_SUCCESS) return std::nullopt;
  switch (field.valueType) {
  case NVML_VALUE_TYPE_UNSIGNED_INT:
    return field.value.uiVal;
  case NVML_VALUE_TYPE_UNSIGNED_LONG:
    return field.value.ulVal;
  case NVML_VALUE_TYPE_UNSIGNED_LONG_LONG:
    return field.value.ullVal;
  default:
    return std::nullopt;
  }
}

}  // namespace

void* symbol(const char* name) { return library() ? dlsym(library(), name) : nullptr; }

std::optional<std::string> driver_version() {
  auto* version =
      reinterpret_cast<decltype(nvmlSystemGetDriverVersion)*>(symbol("nvmlSystemGetDriverVersion"));
  char text[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE];
  if (!version || version(text, sizeof text) != NVML_SUCCESS) return std::nullopt;
  return text;
}

Device::Device(int device) {
  auto* find = reinterpret_cast<decltype(nvmlDeviceGetHandleByPciBusId_v2)*>(
      symbol("nvmlDeviceGetHandleByPciBusId_v2"));
  nvmlDevice_t handle;
  if (find && find(device_properties(device).pci_bus_id->c_str(), &handle) == NVML_SUCCESS) handle_ = handle;
}

const Device& of_device(int device) {
  static std::mutex mutex;
  static std::map<int, Device> all;
  const std::lock_guard lock(mutex);
  return all.try_emplace(device, device).first->second;
}

std::vector<std::optional<std::uint64_t>> Device::read(const std::vector<Field>& fields) const {
  std::vector<std::optional<std::uint64_t>> answers(fields.size());
  auto* read_fields =
      reinterpret_cast<decltype(nvmlDeviceGetFieldValues)*>(symbol("nvmlDeviceGetFieldValues"));
  if (!handle_ || !read_fields) return answers;
  std::vector<nvmlFieldValue_t> values(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    values[i].fieldId = fields[i].id;
    values[i].scopeId = fields[i].scope;
  }
  if (read_fields(*handle_, static_cast<int>(values.size()), values.data()) != NVML_SUCCESS) return answers;
  for (std::size_t i = 0; i < fields.size(); ++i)
    answers[i] = value_of(values[i]);
  return answers;
}

}  // namespace weft::nvml
