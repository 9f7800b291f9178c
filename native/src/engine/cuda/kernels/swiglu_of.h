#pragma once

#include "engine/cuda/portable/cuda.h"

namespace starpo::cuda {

__device__ __forceinline__ float sigmoid_of(float x) { return 1.0f / (1.0f + __expf(-x)); }

// The one formula of the kernel and of the product that ends with it.
__device__ __forceinline__ float swiglu_of(float gate, float up) { return gate * sigmoid_of(gate) * up; }

}  // namespace starpo::cuda
