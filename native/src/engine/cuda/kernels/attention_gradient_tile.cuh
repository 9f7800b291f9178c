#pragma once

#include "engine/cuda/kernels/attention.h"
#include "engine/cuda/kernels/attention_tile.cuh"

namespace starpo::cuda {

// What both backward walks on tensor cores share: four warps of 16 rows each against blocks of 64 rows, which come in two stages, 32 at a time.
template <int HeadDim>
struct TensorGradientTile {
  using Rows = SharedRows<HeadDim>;
  static constexpr int kWarps = 4, kThreads = kWarps * 32, kRows = kWarps * 16;
  static constexpr int kStages = 2, kPart = 32;
  static constexpr int kTileBytes = (2 * kRows + kStages * 2 * kKeyBlock) * HeadDim * static_cast<int>(sizeof(Bf16));

  // products = left rows (16 of the warp) times the transpose of 32 rows of the block.
  template <class Left>
  static __device__ __forceinline__ void multiply(float (&products)[4][4], Left left, const Bf16* tile, int first) {
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) products[j][e] = 0.0f;
#pragma unroll
    for (int step = 0; step < HeadDim / 16; ++step) {
      unsigned a[4];
      left(a, step);
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) {
        unsigned b[2][2];
        Rows::load_transposed(b, tile, first + 16 * pair, step);
        mma_m16n8k16(products[2 * pair], a, b[0]);
        mma_m16n8k16(products[2 * pair + 1], a, b[1]);
      }
    }
  }

  // sums += weights (16 rows of the warp) times 32 rows of the block.
  static __device__ __forceinline__ void add_weighted(float (&sums)[HeadDim / 8][4], const float (&weights)[4][4], const Bf16* tile, int first) {
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      unsigned a[4];
      as_left(a, weights[2 * step], weights[2 * step + 1]);
#pragma unroll
      for (int pair = 0; pair < HeadDim / 16; ++pair) {
        unsigned b[2][2];
        Rows::load_right(b, tile, first + 16 * step, pair);
        mma_m16n8k16(sums[2 * pair], a, b[0]);
        mma_m16n8k16(sums[2 * pair + 1], a, b[1]);
      }
    }
  }

  static __device__ __forceinline__ void clear(float (&sums)[HeadDim / 8][4]) {
#pragma unroll
    for (int j = 0; j < HeadDim / 8; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[j][e] = 0.0f;
  }

  // Writes the warp's rows, up to `count`, through its part of `staging`, a tile of kRows that other warps don't touch there.
  template <class Address>
  static __device__ __forceinline__ void write(Bf16* staging, const float (&sums)[HeadDim / 8][4], float scale, int count, Address address) {
    const int row = warp_index() * 16, lane = lane_index();
    __syncwarp();
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int j = 0; j < HeadDim / 8; ++j)
        *reinterpret_cast<unsigned*>(staging + Rows::offset(row + 8 * h + lane / 4, j) + 2 * (lane % 4)) =
            pack_bf16(sums[j][2 * h] * scale, sums[j][2 * h + 1] * scale);
    __syncwarp();
#pragma unroll 4
    for (int copy = lane; copy < 16 * Rows::kChunks; copy += 32) {
      const int i = row + copy / Rows::kChunks, chunk = copy % Rows::kChunks;
      if (i < count) Vector<Bf16>::load(staging + Rows::offset(i, chunk)).store(address(i) + chunk * 8);
    }
  }
};

}  // namespace starpo::cuda
