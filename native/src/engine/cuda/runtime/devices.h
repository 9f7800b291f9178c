#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace starpo::cuda {

// The reason why a device is not usable.
struct Unavailable {
  std::string code;  // built_without_cuda, driver_missing, driver_too_old, no_gpu, gpu_too_old or gpu_failed
  std::string message;
  std::string hint;
};

struct Device {
  int index = 0;
  std::string name;
  std::int64_t memory_bytes = 0;
  std::int64_t free_bytes = -1;  // -1: unknown
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 0;
  std::string pci_bus_id;  // such as 0000:01:00.0
  std::string uuid;        // as in nvidia-smi: GPU-..., or MIG-... for a slice; empty: unknown
  bool hidden = false;     // whether CUDA shows it only to a process whose CUDA_VISIBLE_DEVICES is its UUID
  std::optional<Unavailable> unavailable;
};

struct DeviceList {
  int runtime_version = 0;  // CUDA version of this build, such as 13000; 0: built without CUDA
  int driver_version = 0;   // newest CUDA version that the driver supports; 0: no driver
  std::vector<Device> devices;
  std::optional<Unavailable> unavailable;  // why no device is available
};

// Queries the driver, which takes a moment. Never throws.
DeviceList list_devices();

// Returns the device if it is usable. Errors: device_unavailable, with reason and hint.
const Device& require_device(const DeviceList& list, int index);

}  // namespace starpo::cuda
