// The options that all programs share.
#pragma once

#include "core/options.hpp"
#include "core/sampler.hpp"

namespace weft {

void declare_common(Options& options);

// These throw UsageError.
SamplerOptions sampler_options(const Options& options);
double watchdog_limit_s(const Options& options);
/// Compares --expect-devices with the devices that this process sees.
void check_devices(const Options& options);

}  // namespace weft
