#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace starpo::cuda {

// Why something can't be used, for programs and for people.
struct Unavailable {
  std::string code;  // built_without_cuda, driver_missing, driver_too_old, no_gpu, gpu_too_old or gpu_failed
  std::string message;
  std::string hint;
};

struct Device {
  int index = 0;
  std::string name;
  std::int64_t memory_bytes = 0;
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 0;
  std::optional<Unavailable> unavailable;
};

struct DeviceList {
  int runtime_version = 0;  // of the CUDA this program was built with, as 13000; 0: none
  int driver_version = 0;   // newest CUDA that the driver knows; 0: no driver
  std::vector<Device> devices;
  std::optional<Unavailable> unavailable;  // why there is no device at all
};

// Asks the driver, which takes a moment; never throws for what it answers.
DeviceList list_devices();

// The device where it can be used; else throws Error device_unavailable, which says why and what to do.
const Device& require_device(const DeviceList& list, int index);

}  // namespace starpo::cuda
