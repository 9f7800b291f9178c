#pragma once

#include "engine/cuda/portable/bf16.h"
#include "engine/engine.h"
#include "engine/memory_plan.h"

namespace starpo::cuda {

// What every part of a run needs, by lifetime: rollout and update lie in the same memory. Free and device bytes are
// left to the caller.
template <class T>
MemoryPlan plan_memory(const EngineNeeds&);

extern template MemoryPlan plan_memory<Bf16>(const EngineNeeds&);
extern template MemoryPlan plan_memory<float>(const EngineNeeds&);

}  // namespace starpo::cuda
