#pragma once

#include <memory>

#include "engine/engine.h"

namespace starpo::cuda {

// The engine of a CUDA device: "cuda:1" that one, "cuda" the first that can be used, "auto" the same or, where there is none, null.
// Errors: device_unavailable, with the reason.
std::unique_ptr<Engine> make_engine(const EngineSettings&);

}  // namespace starpo::cuda
