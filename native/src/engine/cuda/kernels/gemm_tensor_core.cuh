#pragma once

#include "engine/cuda/kernels/gemm_plan.h"
#include "engine/cuda/kernels/gemm_result.cuh"
#include "engine/cuda/kernels/gemm_tile.cuh"
#include "engine/cuda/kernels/swiglu_of.h"

namespace starpo::cuda {

enum class GemmEpilogue {
  sum,
  swiglu,  // b has the rows of two products, gate over up
};

struct GemmArguments {
  const Bf16* a;
  const Bf16* b;
  int lda, ldb;
  int k;
  int k_length;     // of a block's part; k where nothing is split
  float* partials;  // [split][m][n rounded up to even]; null where nothing is split
  GemmResult result;
};

struct TilePosition {
  int m, n;
};

// Blocks that run at the same time take neighbouring tiles, eight rows of them by turns, so that what they read meets in the cache.
__device__ __forceinline__ TilePosition tile_position(int index, int tiles_m, int tiles_n) {
  constexpr int kGroup = 8;
  const int group = index / (kGroup * tiles_n), within = index % (kGroup * tiles_n);
  const int rows = min(kGroup, tiles_m - group * kGroup);
  return {group * kGroup + within % rows, within / rows};
}

// A tile has as many rows of gate as of up, and each warp both of the same columns, so that one thread holds what belongs together.
template <int WarpN>
__device__ __forceinline__ int swiglu_row(int row, int first_column, int columns) {
  constexpr int half = WarpN / 2;
  const int column = first_column + row / WarpN * half + row % half;
  const bool up = row % WarpN >= half;
  return column < columns ? column + (up ? columns : 0) : 2 * columns;
}

template <class Shape>
struct WarpTile {
  static constexpr int fragments_m = Shape::warp_m / 16, fragments_n = Shape::warp_n / 8;

  float sum[fragments_m][fragments_n][4];
  unsigned a[2][fragments_m][4], b[2][fragments_n / 2][4];
  int row, column;  // of this warp in the block's tile

  __device__ __forceinline__ WarpTile() {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    row = warp / Shape::warps_n * Shape::warp_m;
    column = warp % Shape::warps_n * Shape::warp_n;
#pragma unroll
    for (auto& i : sum)
#pragma unroll
      for (auto& j : i)
#pragma unroll
        for (float& element : j) element = 0;
  }

  // Two sets of fragments: the next step's are read while this step's products are under way.
  template <class A, class B>
  __device__ __forceinline__ void load(int set, const Bf16* stage, int step) {
#pragma unroll
    for (int i = 0; i < fragments_m; ++i) A::load_a(a[set][i], stage, row + i * 16, step);
#pragma unroll
    for (int j = 0; j < fragments_n / 2; ++j) B::load_b(b[set][j], stage + Shape::m * Shape::k, column + j * 16, step);
  }

  __device__ __forceinline__ void multiply(int set) {
#pragma unroll
    for (int i = 0; i < fragments_m; ++i)
#pragma unroll
      for (int j = 0; j < fragments_n; ++j) {
        const unsigned(&both)[4] = b[set][j / 2];
        const unsigned fragment[2] = {both[j % 2 * 2], both[j % 2 * 2 + 1]};
        mma_m16n8k16(sum[i][j], a[set][i], fragment);
      }
  }

  // use(row, i, j, first) for the thread's pairs of sums in fragments j < FragmentsN: the pair is sum[i][j][first] and its neighbour, of that row of
  // the block's tile.
  template <int FragmentsN, class Use>
  static __device__ __forceinline__ void for_each_pair(int first_row, Use use) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < fragments_m; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int j = 0; j < FragmentsN; ++j) use(first_row + i * 16 + half * 8 + lane / 4, i, j, half * 2);
  }
};

// One block computes one tile of c, or its part of the sum where k is split (blockIdx.y). An element is one chain of mma.m16n8k16 over ascending k in
// every shape, so that tiles are chosen for speed alone.
template <class Shape, GemmLayout layout, GemmEpilogue epilogue>
__global__ void __launch_bounds__(Shape::threads, Shape::resident_blocks) gemm_kernel(const GemmArguments p) {
  using A = Operand<layout != GemmLayout::tn, Shape::m, Shape::k, Shape::threads>;
  using B = Operand<layout == GemmLayout::nt, Shape::n, Shape::k, Shape::threads>;
  STARPO_DYNAMIC_SHARED(Bf16, shared);

  const GemmResult& result = p.result;
  constexpr int tile_columns = epilogue == GemmEpilogue::swiglu ? Shape::n / 2 : Shape::n;
  const TilePosition tile =
      tile_position(static_cast<int>(blockIdx.x), (result.m + Shape::m - 1) / Shape::m, (result.n + tile_columns - 1) / tile_columns);
  const int first_row = tile.m * Shape::m, first_column = tile.n * tile_columns;
  const int k_begin = static_cast<int>(blockIdx.y) * p.k_length, k_end = min(p.k, k_begin + p.k_length);
  const int tiles = (k_end - k_begin + Shape::k - 1) / Shape::k;

  const auto stage = [&](int index) { return shared + index % Shape::stages * Shape::stage_elements; };
  // Past the last tile: zeros, which nobody uses.
  const auto copy = [&](int index) {
    const int k = k_begin + index * Shape::k;
    Bf16* const a_tile = stage(index);
    Bf16* const b_tile = a_tile + Shape::m * Shape::k;
    A::copy(a_tile, p.a, p.lda, first_row, result.m, k, k_end, [&](int row) { return first_row + row; });
    if constexpr (epilogue == GemmEpilogue::swiglu)
      B::copy(b_tile, p.b, p.ldb, 0, 2 * result.n, k, k_end, [&](int row) { return swiglu_row<Shape::warp_n>(row, first_column, result.n); });
    else
      B::copy(b_tile, p.b, p.ldb, first_column, result.n, k, k_end, [&](int row) { return first_column + row; });
    cp_async_commit();
  };

  // Before a tile's last step all fragments of the tile have been read: behind the barrier there the next tile is everybody's, and the place of this
  // one is free for the copies that the next round begins.
  constexpr int steps = Shape::k / 16;
  static_assert(steps % 2 == 0);
  WarpTile<Shape> warp;
  for (int i = 0; i < Shape::stages - 1; ++i) copy(i);
  cp_async_wait<Shape::stages - 2>();
  __syncthreads();
  warp.template load<A, B>(0, stage(0), 0);
  for (int i = 0; i < tiles; ++i) {
    copy(i + Shape::stages - 1);
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      if (step + 1 < steps) {
        warp.template load<A, B>((step + 1) % 2, stage(i), step + 1);
      } else {
        cp_async_wait<Shape::stages - 2>();
        __syncthreads();
        warp.template load<A, B>(0, stage(i + 1), 0);
      }
      warp.multiply(step % 2);
    }
  }
  cp_async_wait<0>();

  // + 0.0f: a sum of zeros may come out as -0 or +0, depending on how far past k's end a shape's steps reach.
  const int pair = static_cast<int>(threadIdx.x) % 4 * 2;
  constexpr int fragments = WarpTile<Shape>::fragments_n;
  if constexpr (epilogue == GemmEpilogue::swiglu) {
    const int column = first_column + warp.column / 2 + pair;
    const auto gated = [&](int i, int j, int at) {
      const Bf16 gate = from_float<Bf16>(warp.sum[i][j][at] + 0.0f), up = from_float<Bf16>(warp.sum[i][j + fragments / 2][at] + 0.0f);
      return swiglu_of(to_float(gate), to_float(up));
    };
    WarpTile<Shape>::template for_each_pair<fragments / 2>(first_row + warp.row, [&](int row, int i, int j, int first) {
      store_pair(result, row, column + j * 8, gated(i, j, first), gated(i, j, first + 1));
    });
  } else {
    const GemmResult target = p.partials ? partial_result(result, p.partials, static_cast<int>(blockIdx.y)) : result;
    const int column = first_column + warp.column + pair;
    WarpTile<Shape>::template for_each_pair<fragments>(first_row + warp.row, [&](int row, int i, int j, int first) {
      store_pair(target, row, column + j * 8, warp.sum[i][j][first] + 0.0f, warp.sum[i][j][first + 1] + 0.0f);
    });
  }
}

}  // namespace starpo::cuda
