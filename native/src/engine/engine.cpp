#include "engine/engine.h"

#include "cuda/engine/make_engine.h"
#include "engine/cpu/cpu_engine.h"

namespace starpo {

EngineSettings engine_settings(const RunConfig& config) { return {config.device, precision_from_name(config.precision), config.exactness}; }

std::unique_ptr<Engine> make_engine(const EngineSettings& settings, ThreadPool& threads) {
  // The processor asks no driver.
  if (settings.device != "cpu")
    if (auto engine = cuda::make_engine(settings)) return engine;
  return std::make_unique<CpuEngine>(threads, settings.precision);
}

}  // namespace starpo
