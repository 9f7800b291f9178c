#pragma once

#include <optional>
#include <string>

#include "engine/cuda/runtime/devices.h"

namespace starpo {

// Returns the GPU for `device` of run.json: cuda:N selects GPU N, cuda and auto the usable GPU with the most
// free memory. Returns null (CPU) for cpu, and for auto if no GPU is usable. Errors: device_unavailable, with reason
// and hint.
const cuda::Device* choose_gpu(const std::string& device, const cuda::DeviceList&);

// Chooses among the GPUs of this machine. Does not query the driver for cpu.
std::optional<cuda::Device> choose_gpu(const std::string& device);

}  // namespace starpo
