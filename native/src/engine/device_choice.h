#pragma once

#include <span>
#include <string>

namespace starpo {

// A GPU as far as choosing goes.
struct DeviceFacts {
  std::string id;    // cuda:0
  std::string name;  // NVIDIA H100 80GB HBM3
  bool available;
  std::string reason;  // why it can't be used
};

struct ChosenDevice {
  std::string id;  // cpu, cuda:0
  std::string name;
};

// What run.json's `device` means here: cpu, cuda:N, cuda (the first GPU that can be used), or auto (that GPU, else the processor).
// `none`: why there are no GPUs, where there are none. Errors: device_unavailable.
ChosenDevice choose_device(const std::string& wanted, std::span<const DeviceFacts> gpus, const std::string& none);

}  // namespace starpo
