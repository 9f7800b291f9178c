#pragma once

#include "engine/cuda/kernels/attention_gradient.cuh"
#include "engine/cuda/kernels/attention_plain.cuh"

namespace starpo::cuda {

// What both backward walks in fp32 share: four rows a warp against blocks of 64 rows, a lane for two of them.
template <int HeadDim>
struct PlainGradientTile : PlainTile<HeadDim> {
  using Tile = PlainTile<HeadDim>;
  using Sums = float[Tile::kWarpRows][Tile::kColumns];

  // Two tiles of the block's own rows and two of the walked ones, and two sets of weights.
  static constexpr int kSharedBytes =
      (2 * Tile::kRows * HeadDim + 2 * kKeyBlock * Tile::kStride + 2 * Tile::kRows * kKeyBlock) * static_cast<int>(sizeof(float));
  struct Shared {
    float *first_rows, *second_rows, *first_block, *second_block, *first_weights, *second_weights;  // the rows' and weights' are the warp's own

    __device__ explicit Shared(void* shared) {
      float* const rows = static_cast<float*>(shared);
      const int own = first_row();
      first_rows = rows + own * HeadDim;
      second_rows = first_rows + Tile::kRows * HeadDim;
      first_block = rows + 2 * Tile::kRows * HeadDim;
      second_block = first_block + kKeyBlock * Tile::kStride;
      first_weights = second_block + kKeyBlock * Tile::kStride + own * kKeyBlock;
      second_weights = first_weights + Tile::kRows * kKeyBlock;
    }
  };

  static __device__ __forceinline__ int first_row() { return warp_index() * Tile::kWarpRows; }

  static __device__ __forceinline__ void clear(Sums& sums) {
#pragma unroll
    for (int r = 0; r < Tile::kWarpRows; ++r)
#pragma unroll
      for (int i = 0; i < Tile::kColumns; ++i) sums[r][i] = 0.0f;
  }

  template <class Address>
  static __device__ __forceinline__ void write(const Sums& sums, float scale, int count, Address address) {
#pragma unroll
    for (int r = 0; r < Tile::kWarpRows; ++r)
#pragma unroll
      for (int i = 0; i < Tile::kColumns; ++i) {
        const int column = lane_index() + 32 * i;
        if (first_row() + r < count && column < HeadDim) address(first_row() + r)[column] = sums[r][i] * scale;
      }
  }
};

// As TensorQueryGradient, for 16 queries.
template <int HeadDim>
struct PlainQueryGradient {
  using Number = float;
  using Tile = PlainGradientTile<HeadDim>;
  static constexpr int kHeadDim = HeadDim, kThreads = Tile::kThreads, kRows = Tile::kRows, kSharedBytes = Tile::kSharedBytes;

  static __device__ __forceinline__ void walk(void* memory, const AttentionGradient<float, HeadDim>& of, int head, int start, int first, int count) {
    const typename Tile::Shared shared(memory);
    float* const queries = static_cast<float*>(memory);
    const int kv_head = head / of.shape.group(), key_end = first + count, row = Tile::first_row();
    Tile::copy(queries, HeadDim, kRows, count, [&](int i) { return of.qkv + of.query(head, start + first + i); });
    Tile::copy(queries + kRows * HeadDim, HeadDim, kRows, count, [&](int i) { return of.output_gradient(head, start + first + i); });
    float log_sum_exp[Tile::kWarpRows], delta[Tile::kWarpRows];
#pragma unroll
    for (int r = 0; r < Tile::kWarpRows; ++r) {
      const bool valid = row + r < count;
      log_sum_exp[r] = valid ? of.log_sum_exp[of.row(head, start + first + row + r)] : 0.0f;
      delta[r] = valid ? of.delta[of.row(head, start + first + row + r)] : 0.0f;
    }
    typename Tile::Sums sums;
    Tile::clear(sums);
    for (int key = 0; key < key_end; key += kKeyBlock) {
      __syncthreads();  // all warps are done with the block before
      Tile::copy(shared.first_block, Tile::kStride, kKeyBlock, key_end - key, [&](int i) { return of.qkv + of.key(kv_head, start + key + i); });
      Tile::copy(shared.second_block, Tile::kStride, kKeyBlock, key_end - key, [&](int i) { return of.qkv + of.value(kv_head, start + key + i); });
      __syncthreads();
      float weights[Tile::kWarpRows][2], slopes[Tile::kWarpRows][2];
      Tile::multiply(weights, shared.first_rows, shared.first_block);
      Tile::multiply(slopes, shared.second_rows, shared.second_block);
#pragma unroll
      for (int r = 0; r < Tile::kWarpRows; ++r)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const bool seen = key + lane_index() + 32 * i <= first + row + r;
          const float weight = seen ? expf(fmaf(weights[r][i], of.shape.scale, -log_sum_exp[r])) : 0.0f;
          shared.first_weights[r * kKeyBlock + lane_index() + 32 * i] = weight * (slopes[r][i] - delta[r]);
        }
      __syncwarp();
      Tile::add_weighted(sums, shared.first_weights, shared.first_block);
      __syncwarp();
    }
    Tile::write(sums, of.shape.scale, count, [&](int i) { return of.qkv_gradient + of.query(head, start + first + i); });
  }
};

// As TensorKeyGradient, for 16 keys.
template <int HeadDim>
struct PlainKeyGradient {
  using Number = float;
  using Tile = PlainGradientTile<HeadDim>;
  static constexpr int kHeadDim = HeadDim, kThreads = Tile::kThreads, kRows = Tile::kRows, kSharedBytes = Tile::kSharedBytes;

  static __device__ __forceinline__ void walk(void* memory, const AttentionGradient<float, HeadDim>& of, int kv_head, int start, int first, int length) {
    const typename Tile::Shared shared(memory);
    float* const keys = static_cast<float*>(memory);
    const int group = of.shape.group(), count = min(kRows, length - first), row = Tile::first_row();
    Tile::copy(keys, HeadDim, kRows, count, [&](int i) { return of.qkv + of.key(kv_head, start + first + i); });
    Tile::copy(keys + kRows * HeadDim, HeadDim, kRows, count, [&](int i) { return of.qkv + of.value(kv_head, start + first + i); });
    typename Tile::Sums key_sums, value_sums;
    Tile::clear(key_sums);
    Tile::clear(value_sums);
    for (int head = kv_head * group; head < (kv_head + 1) * group; ++head)
      for (int block = first / kKeyBlock * kKeyBlock; block < length; block += kKeyBlock) {
        __syncthreads();  // all warps are done with the block before
        Tile::copy(shared.first_block, Tile::kStride, kKeyBlock, length - block, [&](int i) { return of.qkv + of.query(head, start + block + i); });
        Tile::copy(shared.second_block, Tile::kStride, kKeyBlock, length - block, [&](int i) { return of.output_gradient(head, start + block + i); });
        __syncthreads();
        float weights[Tile::kWarpRows][2], slopes[Tile::kWarpRows][2];
        Tile::multiply(weights, shared.first_rows, shared.first_block);
        Tile::multiply(slopes, shared.second_rows, shared.second_block);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int query = block + lane_index() + 32 * i;
          const float log_sum_exp = query < length ? of.log_sum_exp[of.row(head, start + query)] : 0.0f;
          const float delta = query < length ? of.delta[of.row(head, start + query)] : 0.0f;
#pragma unroll
          for (int r = 0; r < Tile::kWarpRows; ++r) {
            const bool seen = query < length && first + row + r <= query;
            const float weight = seen ? expf(fmaf(weights[r][i], of.shape.scale, -log_sum_exp)) : 0.0f;
            shared.first_weights[r * kKeyBlock + lane_index() + 32 * i] = weight;
            shared.second_weights[r * kKeyBlock + lane_index() + 32 * i] = weight * (slopes[r][i] - delta);
          }
        }
        __syncwarp();
        Tile::add_weighted(value_sums, shared.first_weights, shared.second_block);
        Tile::add_weighted(key_sums, shared.second_weights, shared.first_block);
        __syncwarp();
      }
    Tile::write(key_sums, of.shape.scale, count, [&](int i) { return of.qkv_gradient + of.key(kv_head, start + first + i); });
    Tile::write(value_sums, 1.0f, count, [&](int i) { return of.qkv_gradient + of.value(kv_head, start + first + i); });
  }
};

}  // namespace starpo::cuda
