#pragma once

#include <optional>
#include <string>

#include "engine/cuda/runtime/devices.h"

namespace starpo::cuda {

// Facts from which explain_no_device() finds the reason.
struct DriverFacts {
  enum class Cause { insufficient_driver, no_device, other };
  Cause cause;
  std::string error;          // the driver's message
  int runtime_version;        // such as 13000
  int driver_version;         // newest CUDA version that the driver supports; 0: libcuda was not found
  std::string kernel_driver;  // version of the loaded kernel module, such as 535.183.01; empty: not loaded
};

// Returns the reason why the driver reported no device, with a hint.
Unavailable explain_no_device(const DriverFacts& facts);

// Returns the version of the NVIDIA kernel module from the text of /proc/driver/nvidia/version, or an empty string.
std::string parse_kernel_driver(const std::string& text);
std::string read_kernel_driver();

// Returns the reason why the kernels don't support this compute capability, or nothing if they do.
std::optional<Unavailable> explain_compute_capability(int major, int minor);

// Formats 13000 as "13.0".
std::string cuda_version_text(int version);

}  // namespace starpo::cuda
