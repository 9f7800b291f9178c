#pragma once

#include "engine/cuda/portable/cuda.h"

namespace starpo::cuda {

constexpr unsigned kAllLanes = 0xffffffffu;

__device__ inline int lane_index() { return static_cast<int>(threadIdx.x % 32); }
__device__ inline int warp_index() { return static_cast<int>(threadIdx.x / 32); }

// Reduce over the 32 lanes of a warp. All lanes receive the same value.
__device__ inline float warp_sum(float value) {
  for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(kAllLanes, value, lanes);
  return value;
}

__device__ inline float warp_max(float value) {
  for (int lanes = 16; lanes > 0; lanes /= 2) value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, lanes));
  return value;
}

// Reduce over a block of blockDim.x threads, a multiple of 32, in the order of the warps. All threads must call them
// and receive the same value. scratch: one float per warp in shared memory, reusable on return.
__device__ inline float block_sum(float value, float* scratch) {
  value = warp_sum(value);
  if (lane_index() == 0) scratch[warp_index()] = value;
  __syncthreads();
  float sum = scratch[0];
  for (int warp = 1; warp < static_cast<int>(blockDim.x / 32); ++warp) sum += scratch[warp];
  __syncthreads();
  return sum;
}

__device__ inline float block_max(float value, float* scratch) {
  value = warp_max(value);
  if (lane_index() == 0) scratch[warp_index()] = value;
  __syncthreads();
  float largest = scratch[0];
  for (int warp = 1; warp < static_cast<int>(blockDim.x / 32); ++warp) largest = fmaxf(largest, scratch[warp]);
  __syncthreads();
  return largest;
}

}  // namespace starpo::cuda
