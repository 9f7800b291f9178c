#pragma once

#include "config/run_config.h"
#include "engine/engine.h"

namespace starpo {

// Returns device, precision and exactness.
EngineSettings engine_settings(const RunConfig&);

// Returns everything that a run requires from its device. model: architecture of the policy.
EngineNeeds engine_needs(const RunConfig&, const ModelConfig& model);

}  // namespace starpo
