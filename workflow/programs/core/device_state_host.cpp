#include "core/device_state.hpp"

namespace weft {

struct DeviceStates::Reading {};

DeviceStates::DeviceStates(const std::vector<int>& devices) : devices_(devices) {}
DeviceStates::~DeviceStates() = default;

std::vector<Json> DeviceStates::read() const { return {}; }

}  // namespace weft
