#pragma once

#include "engine/cuda/portable/bf16.h"
#include "engine/engine.h"
#include "engine/memory_plan.h"

namespace starpo::cuda {


// What every part of a run needs, by lifetime: rollout and update lie in the same memory. Free and device bytes are left to the caller.
template <class T>
MemoryPlan plan_memory(const EngineNeeds&);

// A sentence on a change of settings with which the needs fit, cheapest first; or that none would do.
template <class T>
std::string setting_that_fits(const EngineNeeds&, std::int64_t free_bytes);

extern template MemoryPlan plan_memory<Bf16>(const EngineNeeds&);
extern template MemoryPlan plan_memory<float>(const EngineNeeds&);
extern template std::string setting_that_fits<Bf16>(const EngineNeeds&, std::int64_t);
extern template std::string setting_that_fits<float>(const EngineNeeds&, std::int64_t);

}  // namespace starpo::cuda
