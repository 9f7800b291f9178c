#include "engine/engine.h"

#include "engine/cpu/cpu_engine.h"
#include "engine/cuda/choose_gpu.h"
#include "engine/cuda/engine/make_engine.h"

namespace starpo {

std::unique_ptr<Engine> make_engine(const EngineSettings& settings, ThreadPool& threads) {
  if (const auto gpu = choose_gpu(settings.device)) return cuda::make_engine(*gpu, settings);
  return std::make_unique<CpuEngine>(threads, settings.precision);
}

void check_engine(const EngineSettings& settings) {
  if (!choose_gpu(settings.device)) check_cpu_precision(settings.precision);
}

}  // namespace starpo
