#pragma once

#include "engine/cuda/portable/cuda.h"

namespace starpo::cuda {

__device__ __forceinline__ float sigmoid_of(float x) { return 1.0f / (1.0f + __expf(-x)); }

// Shared by the swiglu kernel and the matrix products with a swiglu epilogue, so that their bits are equal.
__device__ __forceinline__ float swiglu_of(float gate, float up) { return gate * sigmoid_of(gate) * up; }

}  // namespace starpo::cuda
