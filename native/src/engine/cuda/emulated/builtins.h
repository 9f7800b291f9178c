#pragma once

#include <bit>
#include <cmath>
#include <type_traits>

#include "engine/cuda/emulated/thread.h"
#include "engine/cuda/emulated/types.h"

// CUDA's keywords, variables and functions for kernels compiled as C++: the subset that the kernels use.

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define threadIdx (::starpo::cuda::emulated::current->index)
#define blockIdx (*::starpo::cuda::emulated::current->block_index)
#define blockDim (*::starpo::cuda::emulated::current->block_dimensions)
#define gridDim (*::starpo::cuda::emulated::current->grid_dimensions)
// A macro, because the C library declares a function of this name.
#define __expf(x) expf(x)

namespace starpo::cuda::emulated {

template <class T>
struct Shuffle {
  T value;
  int source;
  T result;
};

inline void require_every_lane(unsigned mask, const char* operation) {
  if (mask != ~0u) fail(std::string(operation) + " with a mask of fewer than 32 lanes");
}

template <class T>
T shuffle(const char* operation, unsigned mask, T value, int source) {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
  require_every_lane(mask, operation);
  Shuffle<T> operand{value, source, value};
  synchronize_warp(operation, &operand, [](WarpOperands operands) {
    for (void* operand : operands) {
      auto& lane = *static_cast<Shuffle<T>*>(operand);
      lane.result = static_cast<Shuffle<T>*>(operands[lane.source])->value;
    }
  });
  return operand.result;
}

}  // namespace starpo::cuda::emulated

inline void __syncthreads() { starpo::cuda::emulated::synchronize_block(); }
inline void __syncwarp(unsigned mask = ~0u) {
  starpo::cuda::emulated::require_every_lane(mask, "__syncwarp");
  starpo::cuda::emulated::synchronize_warp("__syncwarp", nullptr, nullptr);
}

template <class T>
T __shfl_sync(unsigned mask, T value, int source) {
  return starpo::cuda::emulated::shuffle("__shfl_sync", mask, value, source % starpo::cuda::emulated::kWarpSize);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes) {
  return starpo::cuda::emulated::shuffle("__shfl_xor_sync", mask, value, starpo::cuda::emulated::lane() ^ lanes);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  using namespace starpo::cuda::emulated;
  require_every_lane(mask, "__ballot_sync");
  struct Vote {
    bool predicate;
    unsigned result;
  } operand{predicate != 0, 0};
  synchronize_warp("__ballot_sync", &operand, [](WarpOperands operands) {
    unsigned votes = 0;
    for (int i = 0; i < kWarpSize; ++i) votes |= static_cast<unsigned>(static_cast<Vote*>(operands[i])->predicate) << i;
    for (void* operand : operands) static_cast<Vote*>(operand)->result = votes;
  });
  return operand.result;
}

// Atomics support only integers, because a sum of floats would depend on the order.
template <class T>
T atomicMax(T* pointer, std::type_identity_t<T> value) {
  static_assert(std::is_integral_v<T>);
  const T old = *pointer;
  if (value > old) *pointer = value;
  return old;
}
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline int __ffs(int x) { return x == 0 ? 0 : std::countr_zero(static_cast<unsigned>(x)) + 1; }

#define STARPO_MIN_MAX(type)                                   \
  constexpr type min(type a, type b) { return b < a ? b : a; } \
  constexpr type max(type a, type b) { return a < b ? b : a; }
STARPO_MIN_MAX(int)
STARPO_MIN_MAX(unsigned)
STARPO_MIN_MAX(unsigned long)
#undef STARPO_MIN_MAX
