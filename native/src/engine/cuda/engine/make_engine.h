#pragma once

#include <memory>

#include "engine/cuda/runtime/devices.h"
#include "engine/engine.h"

namespace starpo::cuda {

// Creates the engine for a GPU.
std::unique_ptr<Engine> make_engine(const Device&, const EngineSettings&);

}  // namespace starpo::cuda
