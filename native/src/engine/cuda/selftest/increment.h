#pragma once

#include "engine/cuda/runtime/stream.h"

namespace starpo::cuda {

// values[i] += by for i in [0, count). A minimal kernel for checks of the runtime.
void increment(Stream& stream, float* values, int count, float by);

}  // namespace starpo::cuda
