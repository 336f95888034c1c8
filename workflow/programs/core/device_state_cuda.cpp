#include <array>
#include <optional>

#include "core/device_state.hpp"
#include "core/nvml.hpp"
#include "core/watchdog.hpp"

namespace weft {
namespace {

constexpr const char* activity_words = "device states";

using Value = std::optional<double>;

/// Members that are a pair of values, in the order of Reading::values.
constexpr std::array<const char*, 11> members{
    "sm_clock_hz",       "memory_clock_hz",      "temperature_c",
    "power_w",           "throttle_reasons",     "ecc_corrected",
    "ecc_uncorrected",   "nvlink_replay_errors", "nvlink_recovery_errors",
    "nvlink_crc_errors", "pcie_replays"};

template <class Number>
Value scaled(const std::optional<Number>& value, double unit) {
  return value ? Value(unit * static_cast<double>(*value)) : std::nullopt;
}

Value clock_hz(const nvml::Device& device, nvmlClockType_t clock) {
  return scaled(WEFT_NVML(device, nvmlDeviceGetClockInfo, unsigned, clock), 1e6);
}

Value temperature_c(const nvml::Device& device) {
  // Its successor, nvmlDeviceGetTemperatureV, is unknown to drivers before 570.
  using Get = nvmlReturn_t(nvmlDevice_t, nvmlTemperatureSensors_t, unsigned*);
  return scaled(device.ask<Get, unsigned>("nvmlDeviceGetTemperature", NVML_TEMPERATURE_GPU), 1);
}

Value throttle_reasons(const nvml::Device& device) {
  using Get = nvmlReturn_t(nvmlDevice_t, unsigned long long*);
  auto reasons = device.ask<Get, unsigned long long>("nvmlDeviceGetCurrentClocksEventReasons");
  // Its name in drivers before 535.
  if (!reasons) reasons = device.ask<Get, unsigned long long>("nvmlDeviceGetCurrentClocksThrottleReasons");
  return scaled(reasons, 1);
}

Value ecc_errors(const nvml::Device& device, nvmlMemoryErrorType_t type) {
  return scaled(WEFT_NVML(device, nvmlDeviceGetTotalEccErrors, unsigned long long, type, NVML_VOLATILE_ECC),
                1);
}

}  // namespace

struct DeviceStates::Reading {
  std::array<Value, members.size()> values;
  std::optional<std::uint64_t> transmitted_kib, received_kib;

  explicit Reading(int index) {
    const nvml::Device& device = nvml::of_device(index);
    const auto fields = device.read({{NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY, nvml::all_links},
                                     {NVML_FI_DEV_NVLINK_ERROR_DL_RECOVERY, nvml::all_links},
                                     {NVML_FI_DEV_NVLINK_ERROR_DL_CRC, nvml::all_links},
                                     {NVML_FI_DEV_PCIE_REPLAY_COUNTER},
                                     {NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, nvml::all_links},
                                     {NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, nvml::all_links}});
    values = {clock_hz(device, NVML_CLOCK_SM),
              clock_hz(device, NVML_CLOCK_MEM),
              temperature_c(device),
              scaled(WEFT_NVML(device, nvmlDeviceGetPowerUsage, unsigned), 1e-3),
              throttle_reasons(device),
              ecc_errors(device, NVML_MEMORY_ERROR_TYPE_CORRECTED),
              ecc_errors(device, NVML_MEMORY_ERROR_TYPE_UNCORRECTED),
              scaled(fields[0], 1),
              scaled(fields[1], 1),
              scaled(fields[2], 1),
              scaled(fields[3], 1)};
    transmitted_kib = fields[4];
    received_kib = fields[5];
  }
};

DeviceStates::DeviceStates(const std::vector<int>& devices) : devices_(devices) {
  const Activity activity(activity_words);
  for (int device : devices)
    before_.emplace_back(device);
}

DeviceStates::~DeviceStates() = default;

std::vector<Json> DeviceStates::read() const {
  const Activity activity(activity_words);
  std::vector<Json> states;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const Reading& before = before_[i];
    const Reading after(devices_[i]);
    Json state = Json::object({{"device", devices_[i]}});
    for (std::size_t member = 0; member < members.size(); ++member)
      if (before.values[member] && after.values[member])
        state.set(members[member], std::vector<double>{*before.values[member], *after.values[member]});
    const auto set_bytes = [&](const char* name, const auto& first, const auto& last) {
      if (first && last && *last >= *first) state.set(name, (*last - *first) * 1024);
    };
    set_bytes("nvlink_transmitted_bytes", before.transmitted_kib, after.transmitted_kib);
    set_bytes("nvlink_received_bytes", before.received_kib, after.received_kib);
    states.push_back(std::move(state));
  }
  return states;
}

}  // namespace weft
