#pragma once

#include <memory>

#include "engine/engine.h"

namespace starpo::cuda {

// The engine of the GPU that settings.device means (engine/device_choice.h); null where that is the processor. Errors: device_unavailable.
std::unique_ptr<Engine> make_engine(const EngineSettings&);

}  // namespace starpo::cuda
