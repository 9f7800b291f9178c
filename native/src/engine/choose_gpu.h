#pragma once

#include <optional>
#include <string>

#include "cuda/runtime/devices.h"

namespace starpo {

// The GPU that a `device` means here (engine/device_choice.h); none where that is the processor, for which no driver is asked.
// Errors: device_unavailable.
std::optional<cuda::Device> choose_gpu(const std::string& wanted);

}  // namespace starpo
