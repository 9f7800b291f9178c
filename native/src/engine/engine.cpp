#include "engine/engine.h"

#include "engine/cpu/cpu_engine.h"
#include "engine/device_choice.h"

namespace starpo {

EngineSettings engine_settings(const RunConfig& config) { return {config.device, precision_from_name(config.precision)}; }

std::unique_ptr<Engine> make_engine(const EngineSettings& settings, ThreadPool& threads) {
  choose_device(settings.device, {}, "this trainer has no CUDA engine");
  return std::make_unique<CpuEngine>(threads, settings.precision);
}

}  // namespace starpo
