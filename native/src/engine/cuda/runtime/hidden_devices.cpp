#include "engine/cuda/runtime/hidden_devices.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <tuple>

#include "engine/cuda/runtime/nvml.h"
#include "engine/cuda/runtime/unavailable.h"

namespace starpo::cuda {
namespace {

// The entries of CUDA_VISIBLE_DEVICES: numbers, or UUIDs that may be abbreviated.
class VisibleDevices {
 public:
  explicit VisibleDevices(const char* list) : all_(list == nullptr) {
    std::istringstream text(all_ ? "" : list);
    for (std::string entry; std::getline(text, entry, ',');)
      if (!entry.empty()) entries_.push_back(entry);
  }

  bool include(const std::string& uuid) const {
    return all_ || std::any_of(entries_.begin(), entries_.end(),
                               [&](const std::string& entry) { return uuid.starts_with(entry); });
  }
  bool include_number(std::size_t number) const {
    return std::find(entries_.begin(), entries_.end(), std::to_string(number)) != entries_.end();
  }

 private:
  bool all_;
  std::vector<std::string> entries_;
};

Device describe_hidden(const Nvml& nvml, Nvml::Handle gpu, Nvml::Handle device) {
  Device described;
  described.name = nvml.name(device);
  described.uuid = nvml.uuid(device);
  described.memory_bytes = nvml.memory_bytes(device).value_or(0);
  described.free_bytes = nvml.free_bytes(device).value_or(-1);
  std::tie(described.compute_major, described.compute_minor) = nvml.compute_capability(gpu);
  described.multiprocessors = nvml.multiprocessors(device);
  described.unavailable = explain_compute_capability(described.compute_major, described.compute_minor);
  described.hidden = true;
  return described;
}

}  // namespace

void add_hidden_devices(std::vector<Device>& devices, const char* visible, const char* library) {
  const Nvml nvml(library);
  const VisibleDevices allowed(visible);
  std::vector<Device> found;
  bool sliced = false;
  const std::vector<Nvml::Handle> gpus = nvml.gpus();
  for (std::size_t number = 0; number < gpus.size(); ++number) {
    const Nvml::Handle gpu = gpus[number];
    const bool gpu_allowed = allowed.include_number(number) || allowed.include(nvml.uuid(gpu));
    if (!nvml.is_sliced(gpu)) {
      if (gpu_allowed) found.push_back(describe_hidden(nvml, gpu, gpu));
      continue;
    }
    sliced = true;
    for (const Nvml::Handle slice : nvml.slices(gpu)) {
      if (gpu_allowed || allowed.include(nvml.uuid(slice))) found.push_back(describe_hidden(nvml, gpu, slice));
    }
  }
  if (!sliced) return;
  for (Device& device : found) {
    const bool shown =
        std::any_of(devices.begin(), devices.end(), [&](const Device& other) { return other.uuid == device.uuid; });
    if (shown || device.uuid.empty()) continue;
    device.index = static_cast<int>(devices.size());
    devices.push_back(std::move(device));
  }
}

}  // namespace starpo::cuda
