#pragma once

#include "engine/cuda/portable/bf16.h"
#include "engine/cuda/portable/cuda.h"

namespace starpo::cuda {

// Where a product's elements go.
struct GemmResult {
  int m, n;
  void* c;  // fp32 or bf16
  int ldc;
  bool bf16;
  bool accumulate;
  bool pairs;  // two neighbours, the first in an even column, may be stored at once
  const float* bias;
};

// Where block `part` of a split leaves its sums: [split][m][n rounded up to even].
__device__ __forceinline__ GemmResult partial_result(const GemmResult& result, float* partials, int part) {
  const int ld = result.n + result.n % 2;
  return {result.m, result.n, partials + static_cast<std::size_t>(part) * result.m * ld, ld, false, false, true, nullptr};
}

__device__ __forceinline__ float finished(const GemmResult& result, float sum, int column) {
  return result.bias ? sum + result.bias[column] : sum;
}

__device__ __forceinline__ void store_one(const GemmResult& result, int row, int column, float value) {
  const std::size_t at = static_cast<std::size_t>(row) * result.ldc + column;
  if (result.bf16)
    static_cast<Bf16*>(result.c)[at] = from_float<Bf16>(value);
  else
    static_cast<float*>(result.c)[at] = result.accumulate ? static_cast<float*>(result.c)[at] + value : value;
}

// Two sums of one row, in column (even) and column + 1; what lies outside the result is dropped.
__device__ __forceinline__ void store_pair(const GemmResult& result, int row, int column, float first, float second) {
  if (row >= result.m || column >= result.n) return;
  first = finished(result, first, column);
  if (column + 1 >= result.n) return store_one(result, row, column, first);
  second = finished(result, second, column + 1);
  if (!result.pairs) {
    store_one(result, row, column, first);
    store_one(result, row, column + 1, second);
    return;
  }
  const std::size_t at = static_cast<std::size_t>(row) * result.ldc + column;
  if (result.bf16) {
    *reinterpret_cast<unsigned*>(static_cast<Bf16*>(result.c) + at) = pack_bf16(first, second);
  } else {
    float2* const c = reinterpret_cast<float2*>(static_cast<float*>(result.c) + at);
    *c = result.accumulate ? make_float2(c->x + first, c->y + second) : make_float2(first, second);
  }
}

}  // namespace starpo::cuda
