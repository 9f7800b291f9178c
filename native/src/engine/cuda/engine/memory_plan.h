#pragma once

#include "engine/cuda/portable/bf16.h"
#include "engine/engine.h"
#include "engine/memory_plan.h"

namespace starpo::cuda {

// Returns the memory of each part of a run. The caller sets device, device_bytes and free_bytes.
template <class T>
MemoryPlan plan_memory(const EngineNeeds&);

}  // namespace starpo::cuda
