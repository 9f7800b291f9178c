#pragma once

#include <vector>

#include "engine/cuda/runtime/devices.h"

namespace starpo::cuda {

// Adds the devices that CUDA hides from this process although `visible`, the value of CUDA_VISIBLE_DEVICES, allows
// them: on a machine with MIG slices CUDA shows one slice. Adds none on other machines. `visible` null: all are
// allowed.
void add_hidden_devices(std::vector<Device>& devices, const char* visible, const char* library = "libnvidia-ml.so.1");

}  // namespace starpo::cuda
