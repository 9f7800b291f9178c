#pragma once

#include "engine/cuda/kernels/softmax_row.h"

// Which tokens of a row top-k, min-p and top-p leave.
namespace starpo::cuda {

// As unsigned numbers, keys have the order of the floats; both zeros have one key.
__device__ __forceinline__ unsigned order_key(float x) {
  const unsigned bits = __float_as_uint(x + 0.0f);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

struct Truncation {
  unsigned least_key;  // of the logit
  float least_weight;  // exp(z - maximum); the largest has 1

  __device__ __forceinline__ bool keeps(unsigned key, float weight) const { return key >= least_key && weight >= least_weight; }
};

constexpr int kDigits = 16;  // a key is found four bits at a time
constexpr int kThresholdScratch = (kMostRowThreads / 32 + 1) * kDigits;

// The block's sums of sixteen numbers a thread, in a fixed order, at scratch[0..15] until the next call.
__device__ __forceinline__ void block_digit_sums(float (&mass)[kDigits], float* scratch) {
  const int lane = lane_index(), warps = static_cast<int>(blockDim.x / 32);
  // Each step halves the numbers that a lane looks after: it keeps one half's, and gets its partner's sums of the same.
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    const int half = kDigits / 2 >> step;
    const bool upper = lane & half;
#pragma unroll
    for (int i = 0; i < kDigits / 2; ++i) {
      if (i >= half) break;
      const float given = upper ? mass[i] : mass[i + half], kept = upper ? mass[i + half] : mass[i];
      mass[i] = kept + __shfl_xor_sync(every_lane, given, half);
    }
  }
  mass[0] += __shfl_xor_sync(every_lane, mass[0], 16);
  __syncthreads();
  if (lane < kDigits) scratch[(1 + warp_index()) * kDigits + lane] = mass[0];
  __syncthreads();
  if (threadIdx.x < kDigits) {
    float sum = 0;
    for (int warp = 0; warp < warps; ++warp) sum += scratch[(1 + warp) * kDigits + threadIdx.x];
    scratch[threadIdx.x] = sum;
  }
  __syncthreads();
}

enum class Mass { count, weight };

// The largest key such that the kept tokens from it up have the wanted mass: `wanted` tokens, or that share of the kept ones' weight. A radix search from the top digit.
template <class T>
__device__ unsigned mass_threshold(Mass kind, const T* row, int vocab, bool aligned, float inverse_temperature, float maximum, const Truncation& truncation, float wanted,
                                   float* scratch) {
  constexpr int last_shift = sizeof(T) == 2 ? 16 : 0;  // below it bf16's keys don't differ
  const int groups = (vocab + 7) / 8;
  unsigned prefix = 0;
  float above = 0, target = wanted;
  for (int shift = 28; shift >= last_shift; shift -= 4) {
    float mass[kDigits] = {};
    for (int group = threadIdx.x; group < groups; group += blockDim.x) {
      float logits[8];
      load_eight_of(row, group, vocab, aligned, 0.0f, logits);
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const unsigned key = order_key(logits[i]);
        const float weight = __expf(fmaxf(logits[i] * inverse_temperature - maximum, -128.0f));
        const bool counted = group * 8 + i < vocab && truncation.keeps(key, weight) && (shift == 28 || key >> (shift + 4) == prefix);
        const float value = counted ? (kind == Mass::count ? 1.0f : weight) : 0.0f;
        const unsigned digit = key >> shift & 15;
#pragma unroll
        for (unsigned d = 0; d < kDigits; ++d) mass[d] += d == digit ? value : 0.0f;
      }
    }
    block_digit_sums(mass, scratch);

    if (kind == Mass::weight && shift == 28) {
      float total = 0;
      for (int digit = kDigits - 1; digit >= 0; --digit) total += scratch[digit];
      target = wanted * total;
    }
    // Where rounding keeps the last digits short of the target, the lowest is the threshold.
    unsigned found = kDigits - 1;
    float passed = above;
    bool reached = false;
    for (int digit = kDigits - 1; digit >= 0 && !reached; --digit) {
      if (scratch[digit] == 0) continue;
      above = passed;
      found = digit;
      passed += scratch[digit];
      reached = passed >= target;
    }
    prefix = prefix << 4 | found;
  }
  return prefix << last_shift;
}

}  // namespace starpo::cuda
