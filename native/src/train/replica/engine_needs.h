#pragma once

#include "config/run_config.h"
#include "engine/engine.h"

namespace starpo {

// Slots of a run's generator: no more than it plays episodes at a time.
int generator_slots(const RunConfig&);

EngineSettings engine_settings(const RunConfig&);

// All that a run asks of its device. model: the policy's shape.
EngineNeeds engine_needs(const RunConfig&, const ModelConfig& model);

}  // namespace starpo
