#include "engine/cuda/runtime/free_memory.h"

#include "engine/cuda/runtime/nvml.h"

namespace starpo::cuda {

void read_free_memory(std::vector<Device>& devices, const char* library) {
  const Nvml nvml(library);
  for (Device& device : devices) {
    // The PCI address of a MIG slice is that of its GPU, whose memory includes the other slices.
    const std::string uuid = device.uuid.starts_with("GPU-") ? "MIG-" + device.uuid.substr(4) : "";
    const auto slice = uuid.empty() ? std::nullopt : nvml.device_of(uuid);
    if (slice) device.uuid = uuid;
    const auto handle = slice ? slice : nvml.gpu_at(device.pci_bus_id);
    if (handle) device.free_bytes = nvml.free_bytes(*handle).value_or(-1);
  }
}

}  // namespace starpo::cuda
