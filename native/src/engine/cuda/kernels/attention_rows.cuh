#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "engine/cuda/portable/cuda.h"

// The parts that all attention kernels share: the online softmax, and the addresses of queries, keys and values.
namespace starpo::cuda {

constexpr float kLog2E = 1.4426950408889634f;
constexpr float kLn2 = 0.6931471805599453f;

// Approximates 2^x. The result is exactly 0 for minus infinity and exactly 1 for 0.
__device__ __forceinline__ float exp2_approximate(float x) {
#if defined(__CUDA_ARCH__)
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
#else
  return exp2f(x);
#endif
}

// The online softmax of a row (Milakov & Gimelshein, arXiv 1805.02867): running_max = max of the scaled scores, sum =
// sum of 2^(score - running_max). Scores are scaled by scale * log2(e), because 2^x is faster than e^x. Multiply-adds
// are explicit fmaf, so that all kernels round alike.
struct RunningSoftmax {
  float running_max = -INFINITY;
  float sum = 0.0f;

  // Updates the running max with the maximum scaled score of a block. Returns the factor that rescales previous sums.
  // It is exactly 1 for a fully masked block (minus infinity). The first block must have an unmasked key.
  __device__ __forceinline__ float update_max(float block_max) {
    const float updated = fmaxf(running_max, block_max);
    const float rescale = exp2_approximate(running_max - updated);
    running_max = updated;
    return rescale;
  }
  __device__ __forceinline__ float weight(float score, float log2_scale) const {
    return exp2_approximate(fmaf(score, log2_scale, -running_max));
  }
  // Returns the factor that normalizes weighted sums. Kernels multiply by it instead of dividing, because the two round
  // differently.
  __device__ __forceinline__ float inverse_sum() const { return 1.0f / sum; }
};

// Addresses of the keys and values of one head, by position in a packed sequence or a cache slot.
template <class T>
struct KeyRows {
  const T* keys;    // of position 0
  const T* values;  // of position 0
  // Positions before `prefix` are read from these rows, a prefix that another slot stores.
  const T* prefix_keys;
  const T* prefix_values;
  int prefix;
  std::ptrdiff_t stride;  // from one position to the next

  __device__ __forceinline__ const T* key(int position) const {
    return (position < prefix ? prefix_keys : keys) + position * stride;
  }
  __device__ __forceinline__ const T* value(int position) const {
    return (position < prefix ? prefix_values : values) + position * stride;
  }
};

// Addresses of a block's queries and results. Row i is head i % group of token i / group.
template <class T>
struct QueryRows {
  const T* queries;
  std::ptrdiff_t query_stride;  // from one token to the next
  T* attended;
  std::ptrdiff_t attended_stride;
  const std::int32_t* positions;  // of the tokens; null: consecutive from first_position
  int first_position;
  int group;
  int count;  // rows

  template <int HeadDim>
  __device__ __forceinline__ const T* query(int row) const {
    return queries + row / group * query_stride + row % group * HeadDim;
  }
  template <int HeadDim>
  __device__ __forceinline__ T* output(int row) const {
    return attended + row / group * attended_stride + row % group * HeadDim;
  }
  // Returns the last position that a row attends to. Rows past the end repeat the last row, and their results are
  // unused.
  __device__ __forceinline__ int limit(int row) const {
    const int token = (row < count ? row : count - 1) / group;
    return positions == nullptr ? first_position + token : positions[token];
  }
};

}  // namespace starpo::cuda
