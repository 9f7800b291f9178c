#include "engine/engine.h"

#include "engine/cpu/cpu_engine.h"

namespace starpo {

EngineSettings engine_settings(const RunConfig& config) { return {config.device, precision_from_name(config.precision)}; }

std::unique_ptr<Engine> make_engine(const EngineSettings& settings, ThreadPool& threads) { return std::make_unique<CpuEngine>(threads, settings.precision); }

}  // namespace starpo
