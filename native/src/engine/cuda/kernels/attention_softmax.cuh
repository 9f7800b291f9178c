#pragma once

#include <cmath>

#include "engine/cuda/portable/cuda.h"

namespace starpo::cuda {

constexpr float kLog2E = 1.4426950408889634f;
constexpr float kLn2 = 0.6931471805599453f;

// 2^x, 0 for minus infinity and exactly 1 for 0.
__device__ __forceinline__ float exp2_approximate(float x) {
#if defined(__CUDA_ARCH__)
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
#else
  return exp2f(x);
#endif
}

// The running softmax of a row (Milakov & Gimelshein, arXiv 1805.02867) in powers of two, of scores scaled by scale * log2(e).
// Products that are added to are written as fmaf, so that every kernel that uses this rounds alike.
struct RunningSoftmax {
  float top = -INFINITY;
  float sum = 0.0f;

  // Takes a block's greatest scaled score; what was summed so far has to shrink by the result. A block that the row doesn't see (minus infinity)
  // gives exactly 1. The first block must have a key that the row sees.
  __device__ __forceinline__ float raise(float block_top) {
    const float raised = fmaxf(top, block_top);
    const float shrink = exp2_approximate(top - raised);
    top = raised;
    return shrink;
  }
  __device__ __forceinline__ float weight(float score, float log2_scale) const { return exp2_approximate(fmaf(score, log2_scale, -top)); }
};

}  // namespace starpo::cuda
