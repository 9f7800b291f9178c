#include "engine/cuda/choose_gpu.h"

#include <charconv>

#include "base/error.h"

namespace starpo {
namespace {

// Returns N of cuda:N, or -1 for anything else.
int index_of(const std::string& device) {
  const std::string prefix = "cuda:";
  int index = -1;
  if (device.starts_with(prefix)) std::from_chars(device.data() + prefix.size(), device.data() + device.size(), index);
  return device == prefix + std::to_string(index) ? index : -1;
}

}  // namespace

const cuda::Device* choose_gpu(const std::string& device, const cuda::DeviceList& list) {
  if (device == "cpu") return nullptr;
  if (const int index = index_of(device); index >= 0) return &cuda::require_device(list, index);
  if (device != "auto" && device != "cuda")
    throw Error("device_unavailable", "unknown device " + device,
                "use auto, cpu, cuda, or cuda:0, cuda:1, ...; starpo-trainer devices lists them");
  const cuda::Device* best = nullptr;
  for (const cuda::Device& gpu : list.devices)
    if (!gpu.unavailable && !gpu.hidden && (best == nullptr || gpu.free_bytes > best->free_bytes)) best = &gpu;
  if (best != nullptr) return best;
  if (device == "auto") return nullptr;
  return &cuda::require_device(list, 0);  // throws with the reason
}

std::optional<cuda::Device> choose_gpu(const std::string& device) {
  if (device == "cpu") return {};
  const cuda::DeviceList list = cuda::list_devices();
  const cuda::Device* const chosen = choose_gpu(device, list);
  return chosen == nullptr ? std::nullopt : std::optional(*chosen);
}

}  // namespace starpo
