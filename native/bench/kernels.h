#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/cuda/timing/kernel_times.h"

namespace starpo {

// Returns the shape of a model: 0.5b or 1.5b (Qwen2.5), or tiny (for tests). Throws std::invalid_argument for others.
ModelConfig timed_shape(const std::string& name);

// Returns the ceilings and the kernels with their times, bytes, operations and shares of the nearer ceiling. Each
// row count and plan of a matrix product has its own entry.
nlohmann::ordered_json to_json(const cuda::KernelTimes&, const std::string& shape);

}  // namespace starpo
