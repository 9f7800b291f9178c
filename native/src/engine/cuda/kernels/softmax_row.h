#pragma once

#include <algorithm>
#include <cfloat>

#include "engine/cuda/kernels/eight.h"
#include "engine/cuda/portable/warp.h"

// The softmax statistics of a row of logits, computed by one block. The sampler and the loss share them, so that a
// token's log-probability is bit-identical in both.
namespace starpo::cuda {

constexpr int kMaxRowThreads = 1024;

// Returns the threads per row: one per four groups of eight, from 32 to kMaxRowThreads. It depends only on the
// vocabulary, because it determines the order of summation.
inline int row_threads(int vocab) { return std::clamp(vocab / 32 / 32 * 32, 32, kMaxRowThreads); }

// The reductions of one pass over z = logits / temperature: the running max m, sum = sum of exp(z - m) and weighted =
// sum of (z - m) exp(z - m). A thread rescales its sums whenever its running max grows. Then log p(z) = z - m -
// log(sum) and the entropy is log(sum) - weighted / sum.
struct RowSums {
  float maximum, sum, weighted;

  __device__ static RowSums none() { return {-FLT_MAX, 0, 0}; }

  // The sum becomes NaN if an element is NaN or +infinity. Elements of -infinity add nothing.
  __device__ __forceinline__ void add(const float (&z)[8]) {
    float high = z[0];
    bool bounded = true;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      high = fmaxf(high, z[i]);
      bounded = bounded && z[i] <= FLT_MAX;
    }
    if (high > maximum) rescale_to(high);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float shifted = fmaxf(z[i] - maximum, -128.0f), e = __expf(shifted);
      sum += e;
      weighted = fmaf(e, shifted, weighted);
    }
    if (!bounded) sum = NAN;
  }

  __device__ __forceinline__ void add(RowSums other) {
    const float high = fmaxf(maximum, other.maximum);
    rescale_to(high);
    other.rescale_to(high);
    sum += other.sum;
    weighted += other.weighted;
  }

  __device__ __forceinline__ void rescale_to(float high) {
    const float shift = maximum - high, factor = __expf(shift);
    weighted = fmaf(shift, sum, weighted) * factor;
    sum *= factor;
    maximum = high;
  }

  __device__ __forceinline__ bool valid() const { return sum == sum && maximum > -FLT_MAX; }
  __device__ __forceinline__ float log_sum() const { return logf(sum); }
  __device__ __forceinline__ float logprob(float z) const { return (z - maximum) - log_sum(); }
  __device__ __forceinline__ float entropy() const { return log_sum() - weighted / sum; }
};

__device__ __forceinline__ RowSums shuffle_xor(const RowSums& sums, int mask) {
  RowSums other;
  other.maximum = __shfl_xor_sync(kAllLanes, sums.maximum, mask);
  other.sum = __shfl_xor_sync(kAllLanes, sums.sum, mask);
  other.weighted = __shfl_xor_sync(kAllLanes, sums.weighted, mask);
  return other;
}

// Returns the sums of the block to every thread. scratch: [kMaxRowThreads / 32 + 1], reusable after the next barrier.
__device__ __forceinline__ RowSums block_row_sums(RowSums sums, RowSums* scratch) {
  const int lane = lane_index(), warp = warp_index(), warps = static_cast<int>(blockDim.x / 32);
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) sums.add(shuffle_xor(sums, mask));
  if (lane == 0) scratch[warp] = sums;
  __syncthreads();
  if (warp == 0) {
    sums = lane < warps ? scratch[lane] : RowSums::none();
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2) sums.add(shuffle_xor(sums, mask));
    if (lane == 0) scratch[kMaxRowThreads / 32] = sums;
  }
  __syncthreads();
  return scratch[kMaxRowThreads / 32];
}

// Loads group `group` of the row's logits, divided by the temperature. Elements past the end are -infinity.
template <class T>
__device__ __forceinline__ void load_scaled(const T* row, int group, int vocab, bool aligned, float inverse_temperature,
                                            float (&z)[8]) {
  load_group(row, group, vocab, aligned, -INFINITY, z);
#pragma unroll
  for (int i = 0; i < 8; ++i) z[i] *= inverse_temperature;
}

}  // namespace starpo::cuda
