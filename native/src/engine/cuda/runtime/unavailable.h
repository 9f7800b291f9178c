#pragma once

#include <optional>
#include <string>

#include "engine/cuda/runtime/devices.h"

namespace starpo::cuda {

// What is known where the driver gave no device.
struct DriverFacts {
  enum class Answer { insufficient_driver, no_device, other };
  Answer answer;
  std::string error;          // the driver's own words
  int runtime_version;        // as 13000
  int driver_version;         // newest CUDA that the driver knows; 0: the driver's library wasn't found
  std::string kernel_driver;  // version of the loaded kernel module, as 535.183.01; empty: none is loaded
};

Unavailable explain_no_device(const DriverFacts& facts);

// Of the NVIDIA kernel module, from the text of /proc/driver/nvidia/version; empty where there is none.
std::string parse_kernel_driver(const std::string& text);
std::string read_kernel_driver();

// Nothing where the kernels run on it.
std::optional<Unavailable> explain_compute_capability(int major, int minor);

std::string cuda_version_text(int version);  // 13000 -> 13.0

}  // namespace starpo::cuda
