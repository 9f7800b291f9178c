#pragma once

#include "engine/cuda/kernels/attention.h"
#include "engine/cuda/kernels/attention_rows.cuh"
#include "engine/cuda/kernels/attention_softmax.cuh"
#include "engine/cuda/kernels/attention_tile.cuh"

namespace starpo::cuda {

// The walk of Warps * Tiles * 16 query rows over blocks of 64 keys on tensor cores. The state of a row is spread over the four lanes of a quad.
// Halves = 1: only the first 8 rows of each 16 count, which saves their softmax where a token's heads are all there is.
// What a row gets depends on neither Warps, Tiles, Halves nor Stages.
template <int HeadDim, int Warps, int Tiles, int Halves, int Stages>
struct TensorAttention {
  using Number = Bf16;
  using Rows = SharedRows<HeadDim>;
  static constexpr int kHeadDim = HeadDim;
  static constexpr int kThreads = Warps * 32;
  static constexpr int kTileRows = Warps * Tiles * 16;  // of them the last 8 of each 16 are unused where Halves is 1
  static constexpr int kRows = Halves == 1 ? 8 : kTileRows;
  static constexpr int kSharedBytes = (kTileRows + Stages * 2 * kKeyBlock) * HeadDim * static_cast<int>(sizeof(Bf16));
  static_assert(Halves == 2 || Warps * Tiles == 1);

  float out[Tiles][HeadDim / 8][4];
  RunningSoftmax softmax[Tiles][Halves];

  // Keys first_key (a multiple of 64) up to key_end, which no row sees beyond; every row sees the first of them.
  __device__ __forceinline__ void walk(void* shared, const QueryRows<Bf16>& rows, const KeyRows<Bf16>& source, int first_key, int key_end, float scale) {
    Bf16* const queries = static_cast<Bf16*>(shared);
    const int row = first_row();
    const int first_block = first_key / kKeyBlock, end_block = (key_end + kKeyBlock - 1) / kKeyBlock;

    Rows::template copy<kTileRows, kThreads>(queries, rows.count, [&](int i) { return rows.template query<HeadDim>(i); });
    for (int stage = 0; stage < Stages - 1; ++stage) {
      if (first_block + stage < end_block) copy_keys(shared, source, first_block + stage, stage, key_end);
      cp_async_commit();
    }
#pragma unroll
    for (int t = 0; t < Tiles; ++t) {
#pragma unroll
      for (int j = 0; j < HeadDim / 8; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) out[t][j][e] = 0.0f;
#pragma unroll
      for (int h = 0; h < Halves; ++h) softmax[t][h] = RunningSoftmax();
    }
    const int lowest = -highest_limit(rows, -1), highest = row < rows.count ? highest_limit(rows, 1) : -1;
    const float log2_scale = scale * kLog2E;

    int stage = 0, free_stage = Stages - 1;
    for (int block = first_block; block < end_block; ++block) {
      cp_async_wait<Stages - 2>();
      __syncthreads();  // the block has come, and all warps are done with the one before
      if (block + Stages - 1 < end_block) copy_keys(shared, source, block + Stages - 1, free_stage, key_end);
      cp_async_commit();
      const Bf16* const keys = stage_keys(shared, stage);
      if (kHoldQueries && block == first_block) {
#pragma unroll
        for (int t = 0; t < Tiles; ++t)
#pragma unroll
          for (int step = 0; step < HeadDim / 16; ++step) Rows::load_left(held_[kHoldQueries ? t : 0][kHoldQueries ? step : 0], queries, row + 16 * t, step);
      }
      if (block * kKeyBlock <= highest) {
        float scores[Tiles][8][4];
        multiply_keys(scores, queries, keys, row);
        if (block * kKeyBlock + kKeyBlock - 1 > lowest) mask(scores, rows, block * kKeyBlock);
        weigh(scores, log2_scale);
        add_values(scores, keys + kKeyBlock * HeadDim);
      }
      stage = stage + 1 == Stages ? 0 : stage + 1;
      free_stage = free_stage + 1 == Stages ? 0 : free_stage + 1;
    }
    cp_async_wait<0>();
#pragma unroll
    for (int t = 0; t < Tiles; ++t)
#pragma unroll
      for (int h = 0; h < Halves; ++h) softmax[t][h].sum = quad_sum(softmax[t][h].sum);
  }

  // Ends the walk: each warp hands its rows through the part of shared memory where its queries were, so that whole chunks are written.
  __device__ __forceinline__ void write_attended(void* shared, const QueryRows<Bf16>& rows) {
    Bf16* const staging = static_cast<Bf16*>(shared);
    const int row = first_row();
    __syncwarp();
    for_each_row([&](int t, int h, int i) {
      const float inverse = 1.0f / softmax[t][h].sum;
#pragma unroll
      for (int j = 0; j < HeadDim / 8; ++j)
        *reinterpret_cast<unsigned*>(staging + Rows::offset(i, j) + 2 * (lane_index() % 4)) = pack_bf16(out[t][j][2 * h] * inverse, out[t][j][2 * h + 1] * inverse);
    });
    __syncwarp();
    constexpr int kCopies = Tiles * 8 * Halves * Rows::kChunks;
#pragma unroll 4
    for (int copy = lane_index(); copy < kCopies; copy += 32) {
      const int i = row + copy / Rows::kChunks, chunk = copy % Rows::kChunks;
      if (i < rows.count)
        Vector<Bf16>::load(staging + Rows::offset(i, chunk)).store(rows.template output<HeadDim>(i) + chunk * 8);
    }
  }

  __device__ __forceinline__ void write_log_sum_exp(float* log_sum_exp, int count) {
    for_each_row([&](int t, int h, int i) {
      if (i < count && lane_index() % 4 == 0) log_sum_exp[i] = softmax[t][h].top * kLn2 + logf(softmax[t][h].sum);
    });
  }

  // What a later merge needs: sums [count][HeadDim] of values not divided yet, and (top, sum) [count][2].
  __device__ __forceinline__ void write_partials(float* sums, float* softmaxes, int count) {
    for_each_row([&](int t, int h, int i) {
      if (i >= count) return;
#pragma unroll
      for (int j = 0; j < HeadDim / 8; ++j)
        *reinterpret_cast<float2*>(sums + i * HeadDim + 8 * j + 2 * (lane_index() % 4)) = make_float2(out[t][j][2 * h], out[t][j][2 * h + 1]);
      if (lane_index() % 4 == 0) *reinterpret_cast<float2*>(softmaxes + 2 * i) = make_float2(softmax[t][h].top, softmax[t][h].sum);
    });
  }

 private:
  static constexpr bool kHoldQueries = Tiles * HeadDim <= 128;

  static __device__ __forceinline__ int first_row() { return warp_index() * (Tiles * 16); }
  static __device__ __forceinline__ Bf16* stage_keys(void* shared, int stage) {
    return static_cast<Bf16*>(shared) + (kTileRows + stage * 2 * kKeyBlock) * HeadDim;
  }

  static __device__ __forceinline__ void copy_keys(void* shared, const KeyRows<Bf16>& source, int block, int stage, int key_end) {
    const int first = block * kKeyBlock;
    Bf16* const keys = stage_keys(shared, stage);
    Bf16* const values = keys + kKeyBlock * HeadDim;
    if (source.prefix == 0 || first >= source.prefix || first + kKeyBlock <= source.prefix) {
      Rows::template copy_spaced<kKeyBlock, kThreads>(keys, key_end - first, source.key(first), source.stride);
      Rows::template copy_spaced<kKeyBlock, kThreads>(values, key_end - first, source.value(first), source.stride);
    } else {
      Rows::template copy<kKeyBlock, kThreads>(keys, key_end - first, [&](int i) { return source.key(first + i); });
      Rows::template copy<kKeyBlock, kThreads>(values, key_end - first, [&](int i) { return source.value(first + i); });
    }
  }

  template <class Use>
  __device__ __forceinline__ void for_each_row(Use use) {
#pragma unroll
    for (int t = 0; t < Tiles; ++t)
#pragma unroll
      for (int h = 0; h < Halves; ++h) use(t, h, first_row() + 16 * t + 8 * h + lane_index() / 4);
  }

  // The highest of sign * limit over the warp's rows.
  static __device__ __forceinline__ int highest_limit(const QueryRows<Bf16>& rows, int sign) {
    int highest = sign * rows.limit(first_row() + lane_index() % (Halves == 1 ? 8 : Tiles * 16));
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) highest = max(highest, __shfl_xor_sync(every_lane, highest, distance));
    return highest;
  }

  // scores = queries keys^T
  __device__ __forceinline__ void multiply_keys(float (&scores)[Tiles][8][4], const Bf16* queries, const Bf16* keys, int row) {
#pragma unroll
    for (int t = 0; t < Tiles; ++t)
#pragma unroll
      for (int j = 0; j < 8; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) scores[t][j][e] = 0.0f;
#pragma unroll
    for (int step = 0; step < HeadDim / 16; ++step) {
      unsigned a[Tiles][4];
#pragma unroll
      for (int t = 0; t < Tiles; ++t) {
        if constexpr (kHoldQueries) {
#pragma unroll
          for (int e = 0; e < 4; ++e) a[t][e] = held_[t][step][e];
        } else {
          Rows::load_left(a[t], queries, row + 16 * t, step);
        }
      }
#pragma unroll
      for (int pair = 0; pair < 4; ++pair) {
        unsigned b[2][2];
        Rows::load_transposed(b, keys, 16 * pair, step);
#pragma unroll
        for (int t = 0; t < Tiles; ++t) {
          mma_m16n8k16(scores[t][2 * pair], a[t], b[0]);
          mma_m16n8k16(scores[t][2 * pair + 1], a[t], b[1]);
        }
      }
    }
  }

  __device__ __forceinline__ void mask(float (&scores)[Tiles][8][4], const QueryRows<Bf16>& rows, int first) {
    for_each_row([&](int t, int h, int i) {
      const int limit = rows.limit(i) - first - 2 * (lane_index() % 4);
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        if (8 * j > limit) scores[t][j][2 * h] = -INFINITY;
        if (8 * j + 1 > limit) scores[t][j][2 * h + 1] = -INFINITY;
      }
    });
  }

  // Turns scores into weights, and shrinks what was summed to the new top.
  __device__ __forceinline__ void weigh(float (&scores)[Tiles][8][4], float log2_scale) {
#pragma unroll
    for (int t = 0; t < Tiles; ++t)
#pragma unroll
      for (int h = 0; h < Halves; ++h) {
        float top = scores[t][0][2 * h];
#pragma unroll
        for (int j = 0; j < 8; ++j) top = fmaxf(top, fmaxf(scores[t][j][2 * h], scores[t][j][2 * h + 1]));
        RunningSoftmax& state = softmax[t][h];
        const float shrink = state.raise(quad_max(top) * log2_scale);
        float sum = 0.0f;
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          scores[t][j][2 * h] = state.weight(scores[t][j][2 * h], log2_scale);
          scores[t][j][2 * h + 1] = state.weight(scores[t][j][2 * h + 1], log2_scale);
          sum += scores[t][j][2 * h] + scores[t][j][2 * h + 1];
        }
        state.sum = fmaf(state.sum, shrink, sum);
#pragma unroll
        for (int j = 0; j < HeadDim / 8; ++j) {
          out[t][j][2 * h] *= shrink;
          out[t][j][2 * h + 1] *= shrink;
        }
      }
  }

  // out += weights values
  __device__ __forceinline__ void add_values(const float (&weights)[Tiles][8][4], const Bf16* values) {
#pragma unroll
    for (int step = 0; step < kKeyBlock / 16; ++step) {
      unsigned a[Tiles][4];
#pragma unroll
      for (int t = 0; t < Tiles; ++t) {
        as_left(a[t], weights[t][2 * step], weights[t][2 * step + 1]);
        if constexpr (Halves == 1) a[t][1] = a[t][3] = 0;
      }
#pragma unroll
      for (int pair = 0; pair < HeadDim / 16; ++pair) {
        unsigned b[2][2];
        Rows::load_right(b, values, 16 * step, pair);
#pragma unroll
        for (int t = 0; t < Tiles; ++t) {
          mma_m16n8k16(out[t][2 * pair], a[t], b[0]);
          mma_m16n8k16(out[t][2 * pair + 1], a[t], b[1]);
        }
      }
    }
  }

  unsigned held_[kHoldQueries ? Tiles : 1][kHoldQueries ? HeadDim / 16 : 1][4];
};

}  // namespace starpo::cuda
