// What NVML says of a device before and after a measurement: clocks, throttling, temperature, errors, bytes
// on NVLink.
#pragma once

#include <memory>
#include <vector>

#include "core/json.hpp"

namespace weft {

/// Reads the devices' state when made and again in read(), which returns what `device_states` of a
/// measurement holds. Nothing where NVML is absent (host backend), and members left out where it does not
/// answer.
class DeviceStates {
 public:
  explicit DeviceStates(const std::vector<int>& devices);
  ~DeviceStates();
  std::vector<Json> read() const;

 private:
  struct Reading;
  std::vector<int> devices_;
  std::vector<Reading> before_;
};

}  // namespace weft
