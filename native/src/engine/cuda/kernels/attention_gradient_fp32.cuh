#pragma once

#include "engine/cuda/kernels/attention_fp32.cuh"
#include "engine/cuda/kernels/attention_gradient.cuh"

namespace starpo::cuda {

// The parts that both fp32 backward kernels share: products of four rows per warp with blocks of 64 rows, two per lane.
template <int HeadDim>
struct Fp32GradientTile : Fp32Tile<HeadDim> {
  using Tile = Fp32Tile<HeadDim>;
  using Sums = float[Tile::kWarpRows][Tile::kColumns];

  // Two tiles of the thread block's rows, two of the rows it streams, and two sets of weights.
  static constexpr int kSharedBytes =
      (2 * Tile::kRows * HeadDim + 2 * kKeyBlock * Tile::kStride + 2 * Tile::kRows * kKeyBlock) *
      static_cast<int>(sizeof(float));
  struct Shared {
    float *first_rows, *second_rows;  // of this warp
    float *first_block, *second_block;
    float *first_weights, *second_weights;  // of this warp

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

// Computes dQ of 16 queries of a head, as Bf16QueryGradient does for 64.
template <int HeadDim>
struct Fp32QueryGradient {
  using Number = float;
  using Tile = Fp32GradientTile<HeadDim>;
  static constexpr int kHeadDim = HeadDim, kThreads = Tile::kThreads, kRows = Tile::kRows,
                       kSharedBytes = Tile::kSharedBytes;

  static __device__ __forceinline__ void accumulate(void* memory, const AttentionGradient<float, HeadDim>& args,
                                                    int head, int start, int first, int count) {
    const typename Tile::Shared shared(memory);
    float* const queries = static_cast<float*>(memory);
    const int kv_head = head / args.shape.group(), key_end = first + count, row = Tile::first_row();
    Tile::copy(queries, HeadDim, kRows, count, [&](int i) { return args.qkv + args.query(head, start + first + i); });
    Tile::copy(queries + kRows * HeadDim, HeadDim, kRows, count,
               [&](int i) { return args.output_gradient(head, start + first + i); });
    float log_sum_exp[Tile::kWarpRows], delta[Tile::kWarpRows];
#pragma unroll
    for (int r = 0; r < Tile::kWarpRows; ++r) {
      const bool valid = row + r < count;
      log_sum_exp[r] = valid ? args.log_sum_exp[args.row(head, start + first + row + r)] : 0.0f;
      delta[r] = valid ? args.delta[args.row(head, start + first + row + r)] : 0.0f;
    }
    typename Tile::Sums sums;
    Tile::clear(sums);
    for (int key = 0; key < key_end; key += kKeyBlock) {
      __syncthreads();  // all warps have finished the previous block
      Tile::copy(shared.first_block, Tile::kStride, kKeyBlock, key_end - key,
                 [&](int i) { return args.qkv + args.key(kv_head, start + key + i); });
      Tile::copy(shared.second_block, Tile::kStride, kKeyBlock, key_end - key,
                 [&](int i) { return args.qkv + args.value(kv_head, start + key + i); });
      __syncthreads();
      float weights[Tile::kWarpRows][2], score_gradients[Tile::kWarpRows][2];
      Tile::multiply(weights, shared.first_rows, shared.first_block);
      Tile::multiply(score_gradients, shared.second_rows, shared.second_block);
#pragma unroll
      for (int r = 0; r < Tile::kWarpRows; ++r)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const bool visible = key + lane_index() + 32 * i <= first + row + r;
          const float weight = visible ? expf(fmaf(weights[r][i], args.shape.scale, -log_sum_exp[r])) : 0.0f;
          shared.first_weights[r * kKeyBlock + lane_index() + 32 * i] = weight * (score_gradients[r][i] - delta[r]);
        }
      __syncwarp();
      Tile::add_weighted(sums, shared.first_weights, shared.first_block);
      __syncwarp();
    }
    Tile::write(sums, args.shape.scale, count,
                [&](int i) { return args.qkv_gradient + args.query(head, start + first + i); });
  }
};

// Computes dK and dV of 16 keys of a key-value head, as Bf16KeyGradient does for 64.
template <int HeadDim>
struct Fp32KeyGradient {
  using Number = float;
  using Tile = Fp32GradientTile<HeadDim>;
  static constexpr int kHeadDim = HeadDim, kThreads = Tile::kThreads, kRows = Tile::kRows,
                       kSharedBytes = Tile::kSharedBytes;

  static __device__ __forceinline__ void accumulate(void* memory, const AttentionGradient<float, HeadDim>& args,
                                                    int kv_head, int start, int first, int length) {
    const typename Tile::Shared shared(memory);
    float* const keys = static_cast<float*>(memory);
    const int group = args.shape.group(), count = min(kRows, length - first), row = Tile::first_row();
    Tile::copy(keys, HeadDim, kRows, count, [&](int i) { return args.qkv + args.key(kv_head, start + first + i); });
    Tile::copy(keys + kRows * HeadDim, HeadDim, kRows, count,
               [&](int i) { return args.qkv + args.value(kv_head, start + first + i); });
    typename Tile::Sums key_sums, value_sums;
    Tile::clear(key_sums);
    Tile::clear(value_sums);
    for (int head = kv_head * group; head < (kv_head + 1) * group; ++head)
      for (int block = first / kKeyBlock * kKeyBlock; block < length; block += kKeyBlock) {
        __syncthreads();  // all warps have finished the previous block
        Tile::copy(shared.first_block, Tile::kStride, kKeyBlock, length - block,
                   [&](int i) { return args.qkv + args.query(head, start + block + i); });
        Tile::copy(shared.second_block, Tile::kStride, kKeyBlock, length - block,
                   [&](int i) { return args.output_gradient(head, start + block + i); });
        __syncthreads();
        float weights[Tile::kWarpRows][2], score_gradients[Tile::kWarpRows][2];
        Tile::multiply(weights, shared.first_rows, shared.first_block);
        Tile::multiply(score_gradients, shared.second_rows, shared.second_block);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int query = block + lane_index() + 32 * i;
          const float log_sum_exp = query < length ? args.log_sum_exp[args.row(head, start + query)] : 0.0f;
          const float delta = query < length ? args.delta[args.row(head, start + query)] : 0.0f;
#pragma unroll
          for (int r = 0; r < Tile::kWarpRows; ++r) {
            const bool visible = query < length && first + row + r <= query;
            const float weight = visible ? expf(fmaf(weights[r][i], args.shape.scale, -log_sum_exp)) : 0.0f;
            shared.first_weights[r * kKeyBlock + lane_index() + 32 * i] = weight;
            shared.second_weights[r * kKeyBlock + lane_index() + 32 * i] = weight * (score_gradients[r][i] - delta);
          }
        }
        __syncwarp();
        Tile::add_weighted(value_sums, shared.first_weights, shared.second_block);
        Tile::add_weighted(key_sums, shared.second_weights, shared.first_block);
        __syncwarp();
      }
    Tile::write(key_sums, args.shape.scale, count,
                [&](int i) { return args.qkv_gradient + args.key(kv_head, start + first + i); });
    Tile::write(value_sums, 1.0f, count,
                [&](int i) { return args.qkv_gradient + args.value(kv_head, start + first + i); });
  }
};

}  // namespace starpo::cuda
