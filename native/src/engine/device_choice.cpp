#include "engine/device_choice.h"

#include <algorithm>

#include "base/error.h"
#include "cli/processor.h"

namespace starpo {
namespace {

[[noreturn]] void unavailable(const std::string& message) {
  throw Error("device_unavailable", message, "`starpo-trainer devices` lists what there is; set device to one of those, or to cpu");
}

std::string why_not(std::span<const DeviceFacts> gpus, const std::string& none) {
  std::string reasons;
  for (const DeviceFacts& gpu : gpus) reasons += (reasons.empty() ? "" : "; ") + gpu.id + " (" + gpu.name + "): " + gpu.reason;
  return gpus.empty() ? none : reasons;
}

}  // namespace

ChosenDevice choose_device(const std::string& wanted, std::span<const DeviceFacts> gpus, const std::string& none) {
  const ChosenDevice processor{"cpu", describe_processor().name};
  if (wanted == "cpu") return processor;
  if (wanted == "auto" || wanted == "cuda") {
    const auto usable = std::ranges::find_if(gpus, &DeviceFacts::available);
    if (usable != gpus.end()) return {usable->id, usable->name};
    if (wanted == "auto") return processor;
    unavailable("device is cuda, but no GPU can be used: " + why_not(gpus, none));
  }
  const auto named = std::ranges::find(gpus, wanted, &DeviceFacts::id);
  if (named == gpus.end()) unavailable("device is " + wanted + ", which there isn't: " + (gpus.empty() ? none : "the last GPU is " + gpus.back().id));
  if (!named->available) unavailable("device is " + wanted + ", which can't be used: " + named->reason);
  return {named->id, named->name};
}

}  // namespace starpo
