#pragma once

#include <optional>
#include <string>

#include "engine/cuda/runtime/devices.h"

namespace starpo {

// The GPU that run.json's `device` means: cuda:N that one, cuda the first that can be used, auto the same; null for the
// processor, which cpu is, and auto where no GPU can be used. Errors: device_unavailable, with the reason and what to
// do.
const cuda::Device* choose_gpu(const std::string& wanted, const cuda::DeviceList&);

// Of this machine's. No driver is asked for cpu.
std::optional<cuda::Device> choose_gpu(const std::string& wanted);

}  // namespace starpo
