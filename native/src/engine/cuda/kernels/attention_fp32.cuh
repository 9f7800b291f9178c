#pragma once

#include "engine/cuda/kernels/attention.h"
#include "engine/cuda/kernels/attention_rows.cuh"
#include "engine/cuda/portable/warp.h"

namespace starpo::cuda {

// fp32 products of a warp's four rows with a block of 64 rows in shared memory. Every result is one chain of fmaf in a
// fixed order.
template <int HeadDim>
struct Fp32Tile {
  static constexpr int kWarps = 4, kThreads = kWarps * 32;
  static constexpr int kWarpRows = 4, kRows = kWarps * kWarpRows;
  // Stride of the block's rows, padded so that float4 reads of adjacent rows fall into different banks.
  static constexpr int kStride = HeadDim + 4;
  static constexpr int kColumns = (HeadDim + 31) / 32;

  // Copies `count` rows to a tile of `stride` floats per row. Rows from `valid` on become zeros. `row(i)` returns the
  // address of row i.
  template <class Address>
  static __device__ __forceinline__ void copy(float* tile, int stride, int count, int valid, Address row) {
    for (int i = threadIdx.x; i < count * (HeadDim / 4); i += kThreads) {
      const int r = i / (HeadDim / 4), column = i % (HeadDim / 4) * 4;
      float4 values = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      if (r < valid) values = *reinterpret_cast<const float4*>(row(r) + column);
      *reinterpret_cast<float4*>(tile + r * stride + column) = values;
    }
  }

  // products[r][i] = dot product of the warp's row r and the block's row lane + 32 * i.
  static __device__ __forceinline__ void multiply(float (&products)[kWarpRows][2], const float* rows,
                                                  const float* tile) {
    const int lane = lane_index();
#pragma unroll
    for (int r = 0; r < kWarpRows; ++r) products[r][0] = products[r][1] = 0.0f;
#pragma unroll 2
    for (int column = 0; column < HeadDim; column += 4) {
      const float4 low = *reinterpret_cast<const float4*>(tile + lane * kStride + column);
      const float4 high = *reinterpret_cast<const float4*>(tile + (lane + 32) * kStride + column);
#pragma unroll
      for (int r = 0; r < kWarpRows; ++r) {
        const float4 row = *reinterpret_cast<const float4*>(rows + r * HeadDim + column);
        products[r][0] = add_product(products[r][0], row, low);
        products[r][1] = add_product(products[r][1], row, high);
      }
    }
  }

  // sums[r][i] += dot product of weights[r] and the block's column lane + 32 * i. weights: [kWarpRows][64] of this
  // warp.
  static __device__ __forceinline__ void add_weighted(float (&sums)[kWarpRows][kColumns], const float* weights,
                                                      const float* tile) {
    const int lane = lane_index();
#pragma unroll 4
    for (int k = 0; k < kKeyBlock; ++k)
#pragma unroll
      for (int i = 0; i < kColumns; ++i) {
        const float value = HeadDim % 32 == 0 || lane < HeadDim ? tile[k * kStride + lane + 32 * i] : 0.0f;
#pragma unroll
        for (int r = 0; r < kWarpRows; ++r) sums[r][i] = fmaf(weights[r * kKeyBlock + k], value, sums[r][i]);
      }
  }

 private:
  static __device__ __forceinline__ float add_product(float sum, float4 a, float4 b) {
    return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
  }
};

// Attention of 16 query rows over blocks of 64 keys in fp32, with four rows per warp. A lane computes the scores of two
// keys and the sums of every 32nd column.
template <int HeadDim>
struct Fp32Attention {
  using Number = float;
  using Tile = Fp32Tile<HeadDim>;
  static constexpr int kHeadDim = HeadDim;
  static constexpr int kThreads = Tile::kThreads;
  static constexpr int kRows = Tile::kRows;
  static constexpr int kSharedBytes =
      (kRows * HeadDim + 2 * kKeyBlock * Tile::kStride + kRows * kKeyBlock) * static_cast<int>(sizeof(float));

  float out[Tile::kWarpRows][Tile::kColumns];
  RunningSoftmax softmax[Tile::kWarpRows];

  // The functions do the same as those of Bf16Attention.
  __device__ __forceinline__ void accumulate(void* shared, const QueryRows<float>& rows, const KeyRows<float>& source,
                                             int first_key, int key_end, float scale) {
    float* const queries = static_cast<float*>(shared);
    float* const keys = queries + kRows * HeadDim;
    float* const values = keys + kKeyBlock * Tile::kStride;
    float* const weights = values + kKeyBlock * Tile::kStride + first_row() * kKeyBlock;
    const float log2_scale = scale * kLog2E;
#pragma unroll
    for (int r = 0; r < Tile::kWarpRows; ++r) {
      softmax[r] = RunningSoftmax();
#pragma unroll
      for (int i = 0; i < Tile::kColumns; ++i) out[r][i] = 0.0f;
    }
    Tile::copy(queries, HeadDim, kRows, rows.count, [&](int i) { return rows.template query<HeadDim>(i); });
    for (int first = first_key; first < key_end; first += kKeyBlock) {
      __syncthreads();  // all warps have finished the previous block
      Tile::copy(keys, Tile::kStride, kKeyBlock, key_end - first, [&](int i) { return source.key(first + i); });
      Tile::copy(values, Tile::kStride, kKeyBlock, key_end - first, [&](int i) { return source.value(first + i); });
      __syncthreads();
      float scores[Tile::kWarpRows][2];
      Tile::multiply(scores, queries + first_row() * HeadDim, keys);
#pragma unroll
      for (int r = 0; r < Tile::kWarpRows; ++r)
        apply_softmax(r, scores[r], rows.limit(first_row() + r) - first, log2_scale, weights);
      __syncwarp();
      Tile::add_weighted(out, weights, values);
      __syncwarp();
    }
#pragma unroll
    for (int r = 0; r < Tile::kWarpRows; ++r) softmax[r].sum = warp_sum(softmax[r].sum);
  }

  __device__ __forceinline__ void write_attended(void*, const QueryRows<float>& rows) {
    for_each_value([&](int r, int i, int row, int column) {
      if (row < rows.count) rows.template output<HeadDim>(row)[column] = out[r][i] * softmax[r].inverse_sum();
    });
  }

  __device__ __forceinline__ void write_log_sum_exp(float* log_sum_exp, int count) {
#pragma unroll
    for (int r = 0; r < Tile::kWarpRows; ++r)
      if (first_row() + r < count && lane_index() == 0)
        log_sum_exp[first_row() + r] = softmax[r].running_max * kLn2 + logf(softmax[r].sum);
  }

  __device__ __forceinline__ void write_partials(float* sums, float* softmaxes, int count) {
    for_each_value([&](int r, int i, int row, int column) {
      if (row >= count) return;
      sums[row * HeadDim + column] = out[r][i];
      if (column == 0) {
        softmaxes[2 * row] = softmax[r].running_max;
        softmaxes[2 * row + 1] = softmax[r].sum;
      }
    });
  }

 private:
  static __device__ __forceinline__ int first_row() { return warp_index() * Tile::kWarpRows; }

  template <class Use>
  __device__ __forceinline__ void for_each_value(Use use) {
#pragma unroll
    for (int r = 0; r < Tile::kWarpRows; ++r)
#pragma unroll
      for (int i = 0; i < Tile::kColumns; ++i)
        if (lane_index() + 32 * i < HeadDim) use(r, i, first_row() + r, lane_index() + 32 * i);
  }

  // Computes the weights of row r for the block's keys up to `limit`, updates the running max and rescales the previous
  // sums.
  __device__ __forceinline__ void apply_softmax(int r, float (&scores)[2], int limit, float log2_scale,
                                                float* weights) {
    if (lane_index() > limit) scores[0] = -INFINITY;
    if (lane_index() + 32 > limit) scores[1] = -INFINITY;
    const float rescale = softmax[r].update_max(warp_max(fmaxf(scores[0], scores[1])) * log2_scale);
    const float low = softmax[r].weight(scores[0], log2_scale), high = softmax[r].weight(scores[1], log2_scale);
    weights[r * kKeyBlock + lane_index()] = low;
    weights[r * kKeyBlock + lane_index() + 32] = high;
    softmax[r].sum = fmaf(softmax[r].sum, rescale, low + high);
#pragma unroll
    for (int i = 0; i < Tile::kColumns; ++i) out[r][i] *= rescale;
  }
};

}  // namespace starpo::cuda
