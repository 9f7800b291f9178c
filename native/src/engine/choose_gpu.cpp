#include "engine/choose_gpu.h"

#include <vector>

#include "engine/device_choice.h"

namespace starpo {

std::optional<cuda::Device> choose_gpu(const std::string& wanted) {
  if (wanted == "cpu") return {};
  const cuda::DeviceList list = cuda::list_devices();
  std::vector<DeviceFacts> facts;
  for (const cuda::Device& device : list.devices)
    facts.push_back({"cuda:" + std::to_string(device.index), device.name, !device.unavailable, device.unavailable ? device.unavailable->message : ""});
  const ChosenDevice chosen = choose_device(wanted, facts, list.unavailable ? list.unavailable->message + ": " + list.unavailable->hint : "there is no GPU");
  for (std::size_t i = 0; i < facts.size(); ++i)
    if (facts[i].id == chosen.id) return list.devices[i];
  return {};
}

}  // namespace starpo
