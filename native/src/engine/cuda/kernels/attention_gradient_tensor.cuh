#pragma once

#include "engine/cuda/kernels/attention_gradient.cuh"
#include "engine/cuda/kernels/attention_gradient_tile.cuh"
#include "engine/cuda/kernels/attention_softmax.cuh"

namespace starpo::cuda {

// dQ of 64 queries of one head: walks the keys they see.
template <int HeadDim>
struct TensorQueryGradient {
  using Number = Bf16;
  using Tile = TensorGradientTile<HeadDim>;
  using Rows = typename Tile::Rows;
  static constexpr int kHeadDim = HeadDim, kThreads = Tile::kThreads, kRows = Tile::kRows, kSharedBytes = Tile::kTileBytes;

  static __device__ __forceinline__ void walk(void* shared, const AttentionGradient<Bf16, HeadDim>& of, int head, int start, int first, int count) {
    Bf16* const queries = static_cast<Bf16*>(shared);
    Bf16* const gradients = queries + kRows * HeadDim;
    Bf16* const stages = gradients + kRows * HeadDim;
    constexpr int kStage = 2 * kKeyBlock * HeadDim;
    const int kv_head = head / of.shape.group(), key_end = first + count, blocks = (key_end + kKeyBlock - 1) / kKeyBlock;
    const auto copy_block = [&](int block) {
      Bf16* const keys = stages + block % Tile::kStages * kStage;
      const int key = block * kKeyBlock;
      Rows::template copy_spaced<kKeyBlock, kThreads>(keys, key_end - key, of.qkv + of.key(kv_head, start + key), of.qkv_stride());
      Rows::template copy_spaced<kKeyBlock, kThreads>(keys + kKeyBlock * HeadDim, key_end - key, of.qkv + of.value(kv_head, start + key), of.qkv_stride());
    };

    Rows::template copy_spaced<kRows, kThreads>(queries, count, of.qkv + of.query(head, start + first), of.qkv_stride());
    Rows::template copy_spaced<kRows, kThreads>(gradients, count, of.output_gradient(head, start + first), of.output_stride());
    copy_block(0);
    cp_async_commit();

    const int row = warp_index() * 16;
    float log2_sum_exp[2], delta[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int i = row + 8 * h + lane_index() / 4;
      log2_sum_exp[h] = i < count ? of.log_sum_exp[of.row(head, start + first + i)] * kLog2E : 0.0f;
      delta[h] = i < count ? of.delta[of.row(head, start + first + i)] : 0.0f;
    }
    const float log2_scale = of.shape.scale * kLog2E;
    float sums[HeadDim / 8][4];
    Tile::clear(sums);
    unsigned held_queries[HeadDim / 16][4], held_gradients[HeadDim / 16][4];
    const auto left_queries = [&](unsigned (&a)[4], int step) {
#pragma unroll
      for (int e = 0; e < 4; ++e) a[e] = held_queries[step][e];
    };
    const auto left_gradients = [&](unsigned (&a)[4], int step) {
#pragma unroll
      for (int e = 0; e < 4; ++e) a[e] = held_gradients[step][e];
    };

    for (int block = 0; block < blocks; ++block) {
      cp_async_wait<0>();
      __syncthreads();  // the block has come, and all warps are done with the one before
      if (block + 1 < blocks) copy_block(block + 1);
      cp_async_commit();
      if (block == 0) {
#pragma unroll
        for (int step = 0; step < HeadDim / 16; ++step) {
          Rows::load_left(held_queries[step], queries, row, step);
          Rows::load_left(held_gradients[step], gradients, row, step);
        }
      }
      const Bf16* const keys = stages + block % Tile::kStages * kStage;
      for (int part = 0; part < kKeyBlock; part += Tile::kPart) {
        const int key = block * kKeyBlock + part;
        if (key > first + row + 15) break;  // none of the warp's rows sees it
        float weights[4][4], slopes[4][4];
        Tile::multiply(weights, left_queries, keys, part);
        Tile::multiply(slopes, left_gradients, keys + kKeyBlock * HeadDim, part);
        const bool all_seen = key + Tile::kPart - 1 <= first + row;
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const bool seen = all_seen || key + 8 * j + 2 * (lane_index() % 4) + e % 2 <= first + row + 8 * (e / 2) + lane_index() / 4;
            const float weight = seen ? exp2_approximate(fmaf(weights[j][e], log2_scale, -log2_sum_exp[e / 2])) : 0.0f;
            slopes[j][e] = weight * (slopes[j][e] - delta[e / 2]);
          }
        Tile::add_weighted(sums, slopes, keys, part);
      }
    }
    cp_async_wait<0>();
    Tile::write(queries, sums, of.shape.scale, count, [&](int i) { return of.qkv_gradient + of.query(head, start + first + i); });
  }
};

// dK and dV of 64 keys of one key-value head: walks, for each query head of its group, the queries that see them.
template <int HeadDim>
struct TensorKeyGradient {
  using Number = Bf16;
  using Tile = TensorGradientTile<HeadDim>;
  using Rows = typename Tile::Rows;
  static constexpr int kHeadDim = HeadDim, kThreads = Tile::kThreads, kRows = Tile::kRows;
  static constexpr int kSharedBytes = Tile::kTileBytes + Tile::kStages * 2 * kKeyBlock * static_cast<int>(sizeof(float));

  static __device__ __forceinline__ void walk(void* shared, const AttentionGradient<Bf16, HeadDim>& of, int kv_head, int start, int first, int length) {
    Bf16* const keys = static_cast<Bf16*>(shared);
    Bf16* const values = keys + kRows * HeadDim;
    Bf16* const stages = values + kRows * HeadDim;
    constexpr int kStage = 2 * kKeyBlock * HeadDim;
    float* const statistics = reinterpret_cast<float*>(stages + Tile::kStages * kStage);  // [stages][log-sum-exp in base 2 | delta][64]
    const int group = of.shape.group(), count = min(kRows, length - first);
    const int first_block = first / kKeyBlock, blocks = (length + kKeyBlock - 1) / kKeyBlock - first_block, iterations = group * blocks;

    const auto copy_block = [&](int iteration) {
      const int head = kv_head * group + iteration / blocks, query = (first_block + iteration % blocks) * kKeyBlock;
      Bf16* const queries = stages + iteration % Tile::kStages * kStage;
      Rows::template copy_spaced<kKeyBlock, kThreads>(queries, length - query, of.qkv + of.query(head, start + query), of.qkv_stride());
      Rows::template copy_spaced<kKeyBlock, kThreads>(queries + kKeyBlock * HeadDim, length - query, of.output_gradient(head, start + query), of.output_stride());
    };
    // One for each thread. Queries past the end add nothing whatever they weigh: their rows are zeros.
    const auto statistic = [&](int iteration) {
      const int head = kv_head * group + iteration / blocks, query = (first_block + iteration % blocks) * kKeyBlock + static_cast<int>(threadIdx.x) % kKeyBlock;
      if (query >= length) return 0.0f;
      const std::ptrdiff_t row = of.row(head, start + query);
      return threadIdx.x < kKeyBlock ? of.log_sum_exp[row] * kLog2E : of.delta[row];
    };
    static_assert(kThreads == 2 * kKeyBlock);

    Rows::template copy_spaced<kRows, kThreads>(keys, count, of.qkv + of.key(kv_head, start + first), of.qkv_stride());
    Rows::template copy_spaced<kRows, kThreads>(values, count, of.qkv + of.value(kv_head, start + first), of.qkv_stride());
    copy_block(0);
    cp_async_commit();
    statistics[threadIdx.x] = statistic(0);

    constexpr bool kHold = HeadDim <= 64;
    unsigned held_keys[kHold ? HeadDim / 16 : 1][4], held_values[kHold ? HeadDim / 16 : 1][4];
    const int row = warp_index() * 16;
    const auto left_keys = [&](unsigned (&a)[4], int step) {
      if constexpr (kHold) {
#pragma unroll
        for (int e = 0; e < 4; ++e) a[e] = held_keys[step][e];
      } else {
        Rows::load_left(a, keys, row, step);
      }
    };
    const auto left_values = [&](unsigned (&a)[4], int step) {
      if constexpr (kHold) {
#pragma unroll
        for (int e = 0; e < 4; ++e) a[e] = held_values[step][e];
      } else {
        Rows::load_left(a, values, row, step);
      }
    };
    const float log2_scale = of.shape.scale * kLog2E;
    float key_sums[HeadDim / 8][4], value_sums[HeadDim / 8][4];
    Tile::clear(key_sums);
    Tile::clear(value_sums);

    for (int iteration = 0; iteration < iterations; ++iteration) {
      cp_async_wait<0>();
      __syncthreads();  // the block has come, and all warps are done with the one before
      const int stage = iteration % Tile::kStages;
      const bool more = iteration + 1 < iterations;
      if (more) copy_block(iteration + 1);
      cp_async_commit();
      const float next_statistic = more ? statistic(iteration + 1) : 0.0f;
      if constexpr (kHold) {
        if (iteration == 0) {
#pragma unroll
          for (int step = 0; step < HeadDim / 16; ++step) {
            Rows::load_left(held_keys[step], keys, row, step);
            Rows::load_left(held_values[step], values, row, step);
          }
        }
      }
      const Bf16* const queries = stages + stage * kStage;
      const float* const log2_sum_exp = statistics + stage * 2 * kKeyBlock;
      const float* const delta = log2_sum_exp + kKeyBlock;
      const bool diagonal = iteration % blocks == 0;
      for (int part = 0; part < kKeyBlock; part += Tile::kPart) {
        if (diagonal && part + Tile::kPart - 1 < row) continue;  // sees none of the warp's keys
        float weights[4][4], slopes[4][4];
        Tile::multiply(weights, left_keys, queries, part);
        Tile::multiply(slopes, left_values, queries + kKeyBlock * HeadDim, part);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const int query = part + 8 * j + 2 * (lane_index() % 4);
          const float2 of_queries = *reinterpret_cast<const float2*>(log2_sum_exp + query), deltas = *reinterpret_cast<const float2*>(delta + query);
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const bool seen = !diagonal || row + 8 * (e / 2) + lane_index() / 4 <= query + e % 2;
            weights[j][e] = seen ? exp2_approximate(fmaf(weights[j][e], log2_scale, -(e % 2 == 0 ? of_queries.x : of_queries.y))) : 0.0f;
            slopes[j][e] = weights[j][e] * (slopes[j][e] - (e % 2 == 0 ? deltas.x : deltas.y));
          }
        }
        Tile::add_weighted(value_sums, weights, queries + kKeyBlock * HeadDim, part);
        Tile::add_weighted(key_sums, slopes, queries, part);
      }
      statistics[(1 - stage) * 2 * kKeyBlock + threadIdx.x] = next_statistic;
    }
    cp_async_wait<0>();
    Tile::write(keys, key_sums, of.shape.scale, count, [&](int i) { return of.qkv_gradient + of.key(kv_head, start + first + i); });
    Tile::write(values, value_sums, 1.0f, count, [&](int i) { return of.qkv_gradient + of.value(kv_head, start + first + i); });
  }
};

}  // namespace starpo::cuda
