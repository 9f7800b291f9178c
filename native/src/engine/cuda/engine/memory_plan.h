#pragma once

#include "engine/cuda/portable/bf16.h"
#include "engine/engine.h"
#include "engine/memory_plan.h"

namespace starpo::cuda {

// Plans the memory of each part of a run. Rollout and update share memory. The caller sets free_bytes and device_bytes.
template <class T>
MemoryPlan plan_memory(const EngineNeeds&);

extern template MemoryPlan plan_memory<Bf16>(const EngineNeeds&);
extern template MemoryPlan plan_memory<float>(const EngineNeeds&);

}  // namespace starpo::cuda
