#pragma once

#include <optional>
#include <string>

#include "engine/cuda/runtime/devices.h"

namespace starpo::cuda {

// Facts about a driver that reported no device.
struct DriverFacts {
  enum class Answer { insufficient_driver, no_device, other };
  Answer answer;
  std::string error;          // the driver's message
  int runtime_version;        // as 13000
  int driver_version;         // newest CUDA version that the driver supports; 0: libcuda was not found
  std::string kernel_driver;  // version of the loaded kernel module, such as 535.183.01; empty: not loaded
};

Unavailable explain_no_device(const DriverFacts& facts);

// Returns the version of the NVIDIA kernel module from the text of /proc/driver/nvidia/version, or an empty string.
std::string parse_kernel_driver(const std::string& text);
std::string read_kernel_driver();

// Returns nothing if the kernels support this compute capability.
std::optional<Unavailable> explain_compute_capability(int major, int minor);

std::string cuda_version_text(int version);  // 13000 -> 13.0

}  // namespace starpo::cuda
