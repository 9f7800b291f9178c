#pragma once

#include <vector>

#include "engine/cuda/runtime/devices.h"

namespace starpo::cuda {

// Sets free_bytes of the devices with NVML, the library of nvidia-smi. CUDA itself would take several hundred megabytes
// of each GPU to answer. Devices keep -1 if the library or its answer is missing.
void read_free_memory(std::vector<Device>& devices, const char* library = "libnvidia-ml.so.1");

}  // namespace starpo::cuda
