#include "engine/cuda/kernels/gemm.h"
#include "engine/cuda/kernels/swiglu_of.h"
#include "engine/cuda/portable/cuda.h"

namespace starpo::cuda {
namespace {

constexpr int kTile = 64, kDepth = 16, kThreads = 256;
constexpr int kPadded = kTile + 4;  // keeps float4s aligned and the columns of a store in different banks

enum class Epilogue { sum, swiglu };

// Maps a column of a swiglu tile to a row of b. Each thread sums four columns: gate and up of the same two elements.
__device__ __forceinline__ int swiglu_row(int tile_column, int first_column, int columns) {
  const int column = first_column + tile_column / 4 * 2 + tile_column % 2;
  return column < columns ? column + (tile_column % 4 / 2) * columns : 2 * columns;
}

// Loads tile [k][extent] of a matrix [extent][k] (KInner) or [k][extent]. Elements outside become zero.
template <bool KInner, class IndexOf>
__device__ __forceinline__ void load_tile(float* tile, const float* source, int ld, int extent, int k, int k_end,
                                          IndexOf index_of) {
#pragma unroll
  for (int i = 0; i < kTile * kDepth / kThreads; ++i) {
    const int at = i * kThreads + static_cast<int>(threadIdx.x);
    const int in_k = KInner ? at % kDepth : at / kTile, in_tile = KInner ? at / kDepth : at % kTile;
    const int index = index_of(in_tile), depth = k + in_k;
    const bool valid = index < extent && depth < k_end;
    const std::size_t row = static_cast<std::size_t>(KInner ? index : depth),
                      column = static_cast<std::size_t>(KInner ? depth : index);
    tile[in_k * kPadded + in_tile] = valid ? source[row * ld + column] : 0.0f;
  }
}

// c = op(a) op(b) + bias, or swiglu of it. 64 x 64 elements per block, 4 x 4 per thread. Grid: (column tiles, row
// tiles). Each element is one chain of fused multiply-adds over ascending k.
template <GemmLayout layout, Epilogue epilogue>
__global__ void __launch_bounds__(kThreads) gemm_fp32_kernel(const Gemm<float> p) {
  STARPO_SHARED(float, a_tile[kDepth * kPadded]);
  STARPO_SHARED(float, b_tile[kDepth * kPadded]);
  constexpr bool swiglu = epilogue == Epilogue::swiglu;
  const int first_row = static_cast<int>(blockIdx.y) * kTile,
            first_column = static_cast<int>(blockIdx.x) * (swiglu ? kTile / 2 : kTile);
  const int thread_row = static_cast<int>(threadIdx.x) / 16 * 4, thread_column = static_cast<int>(threadIdx.x) % 16 * 4;

  float sum[4][4] = {};
  for (int k = 0; k < p.k; k += kDepth) {
    load_tile<layout != GemmLayout::tn>(a_tile, p.a, p.lda, p.m, k, p.k, [&](int row) { return first_row + row; });
    if constexpr (swiglu)
      load_tile<true>(b_tile, p.b, p.ldb, 2 * p.n, k, p.k,
                      [&](int column) { return swiglu_row(column, first_column, p.n); });
    else
      load_tile<layout == GemmLayout::nt>(b_tile, p.b, p.ldb, p.n, k, p.k,
                                          [&](int column) { return first_column + column; });
    __syncthreads();
#pragma unroll
    for (int depth = 0; depth < kDepth; ++depth) {
      const float4 a4 = *reinterpret_cast<const float4*>(a_tile + depth * kPadded + thread_row);
      const float4 b4 = *reinterpret_cast<const float4*>(b_tile + depth * kPadded + thread_column);
      const float a[4] = {a4.x, a4.y, a4.z, a4.w}, b[4] = {b4.x, b4.y, b4.z, b4.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
    }
    __syncthreads();
  }

#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = first_row + thread_row + i;
    if (row >= p.m) return;
    float* const c = p.c + static_cast<std::size_t>(row) * p.ldc;
    if constexpr (swiglu) {
#pragma unroll
      for (int j = 0; j < 2; ++j)
        if (const int column = first_column + thread_column / 2 + j; column < p.n)
          c[column] = swiglu_of(sum[i][j], sum[i][j + 2]);
    } else {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int column = first_column + thread_column + j;
        if (column >= p.n) continue;
        const float value = p.bias ? sum[i][j] + p.bias[column] : sum[i][j];
        c[column] = p.accumulate ? c[column] + value : value;
      }
    }
  }
}

template <GemmLayout layout, Epilogue epilogue>
void launch(Stream& stream, const Gemm<float>& gemm) {
  const int columns = epilogue == Epilogue::swiglu ? kTile / 2 : kTile;
  const dim3 grid(static_cast<unsigned>((gemm.n + columns - 1) / columns),
                  static_cast<unsigned>((gemm.m + kTile - 1) / kTile));
  STARPO_LAUNCH(stream, grid, kThreads, 0, (gemm_fp32_kernel<layout, epilogue>), gemm);
}

}  // namespace

void gemm_planned(Stream& stream, GemmLayout layout, const Gemm<float>& gemm, const GemmPlan&, const GemmWorkspace&) {
  switch (layout) {
    case GemmLayout::nt: return launch<GemmLayout::nt, Epilogue::sum>(stream, gemm);
    case GemmLayout::nn: return launch<GemmLayout::nn, Epilogue::sum>(stream, gemm);
    case GemmLayout::tn: return launch<GemmLayout::tn, Epilogue::sum>(stream, gemm);
  }
}

void gemm_swiglu_planned(Stream& stream, const Gemm<float>& gemm, const GemmPlan&) {
  launch<GemmLayout::nt, Epilogue::swiglu>(stream, gemm);
}

}  // namespace starpo::cuda
