#include "cli/commands.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/format_bytes.h"
#include "base/processor.h"
#include "engine/cpu/kernels/isa.h"
#include "engine/cuda/runtime/devices.h"
#include "engine/cuda/runtime/unavailable.h"
#include "journal/stamp.h"

namespace starpo {
namespace {

using Json = nlohmann::ordered_json;

Json version_or_null(int version) { return version == 0 ? Json(nullptr) : Json(cuda::cuda_version_text(version)); }

std::string compute_capability(const cuda::Device& device) {
  return std::to_string(device.compute_major) + "." + std::to_string(device.compute_minor);
}

Json to_json(const std::optional<cuda::Unavailable>& unavailable) {
  if (!unavailable) return nullptr;
  return {{"code", unavailable->code}, {"message", unavailable->message}, {"hint", unavailable->hint}};
}

Json to_json(const cuda::Device& device) {
  return {{"id", "cuda:" + std::to_string(device.index)},
          {"name", device.name},
          {"available", !device.unavailable},
          {"reason", device.unavailable ? Json(device.unavailable->message) : Json(nullptr)},
          {"hint", device.unavailable ? Json(device.unavailable->hint) : Json(nullptr)},
          {"uuid", device.uuid.empty() ? Json(nullptr) : Json(device.uuid)},
          {"memory_bytes", device.memory_bytes},
          {"free_bytes", device.free_bytes < 0 ? Json(nullptr) : Json(device.free_bytes)},
          {"compute_capability", compute_capability(device)},
          {"multiprocessors", device.multiprocessors}};
}

void print_text(const cuda::DeviceList& list) {
  for (const auto& device : list.devices) {
    std::cout << "cuda:" << device.index << "  " << device.name << ", " << format_bytes(device.memory_bytes)
              << ", compute capability " << compute_capability(device) << "\n";
    if (device.hidden) std::cout << "        select it with CUDA_VISIBLE_DEVICES=" << device.uuid << "\n";
    if (device.unavailable)
      std::cout << "        not usable: " << device.unavailable->message << "; " << device.unavailable->hint << "\n";
  }
  if (list.unavailable)
    std::cout << "cuda    not available: " << list.unavailable->message << "; " << list.unavailable->hint << "\n";
}

}  // namespace

int devices_command(bool json) {
  const auto processor = describe_processor();
  const std::string isa = isa_name(selected_isa());
  const auto list = cuda::list_devices();
  if (!json) {
    std::cout << "cpu     " << processor.name << ", " << counted(processor.threads, "thread") << ", " << isa << "\n";
    print_text(list);
    return 0;
  }
  Json devices = Json::array({{{"id", "cpu"},
                               {"name", processor.name},
                               {"available", true},
                               {"reason", nullptr},
                               {"hint", nullptr},
                               {"threads", processor.threads},
                               {"isa", isa},
                               {"memory_bytes", processor.memory_bytes}}});
  for (const auto& device : list.devices) devices.push_back(to_json(device));
  const Json answer{{"build", build_version()},
                    {"cuda",
                     {{"runtime_version", version_or_null(list.runtime_version)},
                      {"driver_version", version_or_null(list.driver_version)},
                      {"problem", to_json(list.unavailable)}}},
                    {"devices", devices}};
  std::cout << answer.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
  return 0;
}

}  // namespace starpo
