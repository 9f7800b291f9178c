#pragma once

#include <vector>

#include "engine/cuda/selftest/check.h"

namespace starpo::cuda {

std::vector<Check> attention_checks();         // forward and backward over packed sequences
std::vector<Check> cached_attention_checks();  // over the cache

}  // namespace starpo::cuda
