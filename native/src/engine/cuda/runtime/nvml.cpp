#include "engine/cuda/runtime/nvml.h"

#include <dlfcn.h>

namespace starpo::cuda {
namespace {

// The part of NVML's API that is used here (nvml.h).
struct NvmlMemory {
  unsigned long long total, free, used;
};
struct NvmlAttributes {
  unsigned multiprocessors, engines_and_slices[7];
  unsigned long long memory_megabytes;
};
constexpr int kNvmlSuccess = 0;
constexpr unsigned kNvmlNameLength = 96;

}  // namespace

template <class... Arguments>
bool Nvml::call(const char* function, Arguments... arguments) const {
  if (library_ == nullptr) return false;
  const auto found = reinterpret_cast<int (*)(Arguments...)>(dlsym(library_, function));
  return found != nullptr && found(arguments...) == kNvmlSuccess;
}

Nvml::Nvml(const char* library) : library_(dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
  if (!call("nvmlInit_v2")) library_ = nullptr;
}
Nvml::~Nvml() { call("nvmlShutdown"); }

std::optional<Nvml::Handle> Nvml::gpu_at(const std::string& pci_bus_id) const {
  Handle handle = nullptr;
  if (!call("nvmlDeviceGetHandleByPciBusId_v2", pci_bus_id.c_str(), &handle)) return {};
  return handle;
}

std::optional<Nvml::Handle> Nvml::device_of(const std::string& uuid) const {
  Handle handle = nullptr;
  if (!call("nvmlDeviceGetHandleByUUID", uuid.c_str(), &handle)) return {};
  return handle;
}

std::vector<Nvml::Handle> Nvml::gpus() const {
  std::vector<Handle> found;
  unsigned count = 0;
  if (!call("nvmlDeviceGetCount_v2", &count)) return found;
  for (unsigned index = 0; index < count; ++index) {
    Handle handle = nullptr;
    if (call("nvmlDeviceGetHandleByIndex_v2", index, &handle)) found.push_back(handle);
  }
  return found;
}

bool Nvml::is_sliced(Handle gpu) const {
  unsigned current = 0, pending = 0;
  return call("nvmlDeviceGetMigMode", gpu, &current, &pending) && current != 0;
}

std::vector<Nvml::Handle> Nvml::slices(Handle gpu) const {
  std::vector<Handle> found;
  unsigned most = 0;
  if (!call("nvmlDeviceGetMaxMigDeviceCount", gpu, &most)) return found;
  for (unsigned index = 0; index < most; ++index) {
    Handle handle = nullptr;
    if (call("nvmlDeviceGetMigDeviceHandleByIndex", gpu, index, &handle)) found.push_back(handle);
  }
  return found;
}

std::optional<std::int64_t> Nvml::free_bytes(Handle device) const {
  NvmlMemory memory{};
  if (!call("nvmlDeviceGetMemoryInfo", device, &memory)) return {};
  return static_cast<std::int64_t>(memory.free);
}

std::optional<std::int64_t> Nvml::memory_bytes(Handle device) const {
  NvmlMemory memory{};
  if (!call("nvmlDeviceGetMemoryInfo", device, &memory)) return {};
  return static_cast<std::int64_t>(memory.total);
}

std::string Nvml::uuid(Handle device) const {
  char text[kNvmlNameLength] = "";
  return call("nvmlDeviceGetUUID", device, static_cast<char*>(text), kNvmlNameLength) ? text : "";
}

std::string Nvml::name(Handle device) const {
  char text[kNvmlNameLength] = "";
  return call("nvmlDeviceGetName", device, static_cast<char*>(text), kNvmlNameLength) ? text : "";
}

std::pair<int, int> Nvml::compute_capability(Handle gpu) const {
  int major = 0, minor = 0;
  call("nvmlDeviceGetCudaComputeCapability", gpu, &major, &minor);
  return {major, minor};
}

int Nvml::multiprocessors(Handle slice) const {
  NvmlAttributes attributes{};
  return call("nvmlDeviceGetAttributes_v2", slice, &attributes) ? static_cast<int>(attributes.multiprocessors) : 0;
}

}  // namespace starpo::cuda
