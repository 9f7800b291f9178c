#include "engine/engine.h"

#include "engine/cuda/engine/make_engine.h"
#include "engine/choose_gpu.h"
#include "engine/cpu/cpu_engine.h"

namespace starpo {

EngineSettings engine_settings(const RunConfig& config) { return {config.device, precision_from_name(config.precision), config.exactness}; }

std::unique_ptr<Engine> make_engine(const EngineSettings& settings, ThreadPool& threads) {
  if (const auto gpu = choose_gpu(settings.device)) return cuda::make_engine(*gpu, settings);
  return std::make_unique<CpuEngine>(threads, settings.precision);
}

}  // namespace starpo
