#include "engine/cuda/runtime/free_memory.h"

#include <dlfcn.h>

namespace starpo::cuda {
namespace {

// The part of NVML's API that is used here (nvml.h).
using Handle = void*;
struct Memory {
  unsigned long long total, free, used;
};
constexpr int kSuccess = 0;

template <class Function>
Function* resolve(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

void read_free_memory(std::vector<Device>& devices, const char* library) {
  void* const nvml = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (nvml == nullptr) return;
  const auto init = resolve<int()>(nvml, "nvmlInit_v2"), shutdown = resolve<int()>(nvml, "nvmlShutdown");
  const auto find = resolve<int(const char*, Handle*)>(nvml, "nvmlDeviceGetHandleByPciBusId_v2");
  const auto find_uuid = resolve<int(const char*, Handle*)>(nvml, "nvmlDeviceGetHandleByUUID");
  const auto query = resolve<int(Handle, Memory*)>(nvml, "nvmlDeviceGetMemoryInfo");
  if (init == nullptr || shutdown == nullptr || find == nullptr || query == nullptr || init() != kSuccess) return;
  for (Device& device : devices) {
    Handle handle = nullptr;
    Memory memory{};
    // The PCI address of a MIG slice is that of its GPU, whose memory includes the other slices.
    const std::string slice = device.uuid.starts_with("GPU-") ? "MIG-" + device.uuid.substr(4) : "";
    if (!slice.empty() && find_uuid != nullptr && find_uuid(slice.c_str(), &handle) == kSuccess) {
      device.uuid = slice;
      if (query(handle, &memory) == kSuccess) device.free_bytes = static_cast<std::int64_t>(memory.free);
    } else if (find(device.pci_bus_id.c_str(), &handle) == kSuccess && query(handle, &memory) == kSuccess) {
      device.free_bytes = static_cast<std::int64_t>(memory.free);
    }
  }
  shutdown();
}

}  // namespace starpo::cuda
