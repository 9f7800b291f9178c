#include "cuda/engine/make_engine.h"

#include "cuda/runtime/devices.h"
#include "engine/device_choice.h"

namespace starpo::cuda {

std::unique_ptr<Engine> make_engine(const EngineSettings& settings) {
  choose_device(settings.device, {}, list_devices().unavailable->message);
  return nullptr;
}

}  // namespace starpo::cuda
