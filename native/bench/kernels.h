#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/cuda/timing/kernel_times.h"

namespace starpo {

// Returns a published model's shape: 0.5b, 1.5b (Qwen2.5), or tiny for tests.
ModelConfig timed_shape(const std::string& name);

// Returns the ceilings and the kernels with their times, bytes, operations and shares of the nearer ceiling. Each
// row count and plan of a matrix product has its own entry.
nlohmann::ordered_json to_json(const cuda::KernelTimes&, const std::string& shape);

}  // namespace starpo
