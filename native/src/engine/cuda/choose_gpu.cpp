#include "engine/cuda/choose_gpu.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace starpo {
namespace {

// N of cuda:N; -1 for anything else.
int index_of(const std::string& wanted) {
  const std::string prefix = "cuda:";
  int index = -1;
  if (wanted.starts_with(prefix)) std::from_chars(wanted.data() + prefix.size(), wanted.data() + wanted.size(), index);
  return wanted == prefix + std::to_string(index) ? index : -1;
}

}  // namespace

const cuda::Device* choose_gpu(const std::string& wanted, const cuda::DeviceList& list) {
  if (wanted == "cpu") return nullptr;
  if (const int index = index_of(wanted); index >= 0) return &cuda::require_device(list, index);
  if (wanted != "auto" && wanted != "cuda")
    throw Error("device_unavailable", "there is no device " + wanted,
                "name auto, cpu, cuda, or cuda:0, cuda:1, ...; starpo-trainer devices lists them");
  const auto usable =
      std::ranges::find_if(list.devices, [](const cuda::Device& device) { return !device.unavailable; });
  if (usable != list.devices.end()) return &*usable;
  if (wanted == "auto") return nullptr;
  return &cuda::require_device(list, 0);  // says why not even the first
}

std::optional<cuda::Device> choose_gpu(const std::string& wanted) {
  if (wanted == "cpu") return {};
  const cuda::DeviceList list = cuda::list_devices();
  const cuda::Device* const chosen = choose_gpu(wanted, list);
  return chosen == nullptr ? std::nullopt : std::optional(*chosen);
}

}  // namespace starpo
