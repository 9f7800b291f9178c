#pragma once

#include "engine/cuda/kernels/attention_bf16.cuh"
#include "engine/cuda/kernels/attention_gradient.cuh"

namespace starpo::cuda {

// The parts that both tensor core backward kernels share: products of four warps of 16 rows with blocks of 64 rows, 32
// at a time. Two blocks are in shared memory: one in use, one being copied.
template <int HeadDim>
struct Bf16GradientTile {
  using Rows = SharedRows<HeadDim>;
  static constexpr int kWarps = 4, kThreads = kWarps * 32, kRows = kWarps * 16;
  static constexpr int kStages = 2, kPart = 32;
  static constexpr int kTileBytes = (2 * kRows + kStages * 2 * kKeyBlock) * HeadDim * static_cast<int>(sizeof(Bf16));

  // products = 16 rows of the warp times the transpose of 32 rows of the block.
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

  // sums += weights (16 rows of the warp) times 32 rows of the block, rounded to bf16.
  static __device__ __forceinline__ void add_weighted(float (&sums)[HeadDim / 8][4], const float (&weights)[4][4],
                                                      const Bf16* tile, int first) {
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

  // Writes the warp's rows below `count`. The warp stages them in its own rows of `staging`, so that it writes whole
  // 16-byte chunks.
  template <class Address>
  static __device__ __forceinline__ void write(Bf16* staging, const float (&sums)[HeadDim / 8][4], float scale,
                                               int count, Address address) {
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

// Computes dQ of 64 queries of a head from the keys that they attend to.
template <int HeadDim>
struct Bf16QueryGradient {
  using Number = Bf16;
  using Tile = Bf16GradientTile<HeadDim>;
  using Rows = typename Tile::Rows;
  static constexpr int kHeadDim = HeadDim, kThreads = Tile::kThreads, kRows = Tile::kRows,
                       kSharedBytes = Tile::kTileBytes;

  static __device__ __forceinline__ void accumulate(void* shared, const AttentionGradient<Bf16, HeadDim>& args,
                                                    int head, int start, int first, int count) {
    Bf16* const queries = static_cast<Bf16*>(shared);
    Bf16* const gradients = queries + kRows * HeadDim;
    Bf16* const stages = gradients + kRows * HeadDim;
    constexpr int kStage = 2 * kKeyBlock * HeadDim;
    const int kv_head = head / args.shape.group(), key_end = first + count,
              blocks = (key_end + kKeyBlock - 1) / kKeyBlock;
    const auto copy_block = [&](int block) {
      Bf16* const keys = stages + block % Tile::kStages * kStage;
      const int key = block * kKeyBlock;
      Rows::template copy_spaced<kKeyBlock, kThreads>(keys, key_end - key, args.qkv + args.key(kv_head, start + key),
                                                      args.qkv_stride());
      Rows::template copy_spaced<kKeyBlock, kThreads>(keys + kKeyBlock * HeadDim, key_end - key,
                                                      args.qkv + args.value(kv_head, start + key), args.qkv_stride());
    };

    Rows::template copy_spaced<kRows, kThreads>(queries, count, args.qkv + args.query(head, start + first),
                                                args.qkv_stride());
    Rows::template copy_spaced<kRows, kThreads>(gradients, count, args.output_gradient(head, start + first),
                                                args.output_stride());
    copy_block(0);
    cp_async_commit();

    const int row = warp_index() * 16;
    float log2_sum_exp[2], delta[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int i = row + 8 * h + lane_index() / 4;
      log2_sum_exp[h] = i < count ? args.log_sum_exp[args.row(head, start + first + i)] * kLog2E : 0.0f;
      delta[h] = i < count ? args.delta[args.row(head, start + first + i)] : 0.0f;
    }
    const float log2_scale = args.shape.scale * kLog2E;
    float sums[HeadDim / 8][4];
    Tile::clear(sums);
    unsigned query_fragments[HeadDim / 16][4], gradient_fragments[HeadDim / 16][4];
    const auto left_queries = [&](unsigned (&a)[4], int step) {
#pragma unroll
      for (int e = 0; e < 4; ++e) a[e] = query_fragments[step][e];
    };
    const auto left_gradients = [&](unsigned (&a)[4], int step) {
#pragma unroll
      for (int e = 0; e < 4; ++e) a[e] = gradient_fragments[step][e];
    };

    for (int block = 0; block < blocks; ++block) {
      cp_async_wait<0>();
      __syncthreads();  // the block has arrived, and all warps have finished the previous one
      if (block + 1 < blocks) copy_block(block + 1);
      cp_async_commit();
      if (block == 0) {
#pragma unroll
        for (int step = 0; step < HeadDim / 16; ++step) {
          Rows::load_left(query_fragments[step], queries, row, step);
          Rows::load_left(gradient_fragments[step], gradients, row, step);
        }
      }
      const Bf16* const keys = stages + block % Tile::kStages * kStage;
      for (int part = 0; part < kKeyBlock; part += Tile::kPart) {
        const int key = block * kKeyBlock + part;
        if (key > first + row + 15) break;  // none of the warp's rows attends to it
        float weights[4][4], score_gradients[4][4];
        Tile::multiply(weights, left_queries, keys, part);
        Tile::multiply(score_gradients, left_gradients, keys + kKeyBlock * HeadDim, part);
        const bool all_visible = key + Tile::kPart - 1 <= first + row;
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const bool visible = all_visible || key + 8 * j + 2 * (lane_index() % 4) + e % 2 <=
                                                    first + row + 8 * (e / 2) + lane_index() / 4;
            const float weight =
                visible ? exp2_approximate(fmaf(weights[j][e], log2_scale, -log2_sum_exp[e / 2])) : 0.0f;
            score_gradients[j][e] = weight * (score_gradients[j][e] - delta[e / 2]);
          }
        Tile::add_weighted(sums, score_gradients, keys, part);
      }
    }
    cp_async_wait<0>();
    Tile::write(queries, sums, args.shape.scale, count,
                [&](int i) { return args.qkv_gradient + args.query(head, start + first + i); });
  }
};

// Computes dK and dV of 64 keys of a key-value head from the queries of its group that attend to them.
template <int HeadDim>
struct Bf16KeyGradient {
  using Number = Bf16;
  using Tile = Bf16GradientTile<HeadDim>;
  using Rows = typename Tile::Rows;
  static constexpr int kHeadDim = HeadDim, kThreads = Tile::kThreads, kRows = Tile::kRows;
  static constexpr int kSharedBytes =
      Tile::kTileBytes + Tile::kStages * 2 * kKeyBlock * static_cast<int>(sizeof(float));

  static __device__ __forceinline__ void accumulate(void* shared, const AttentionGradient<Bf16, HeadDim>& args,
                                                    int kv_head, int start, int first, int length) {
    Bf16* const keys = static_cast<Bf16*>(shared);
    Bf16* const values = keys + kRows * HeadDim;
    Bf16* const stages = values + kRows * HeadDim;
    constexpr int kStage = 2 * kKeyBlock * HeadDim;
    // [kStages][log-sum-exp in base 2 | delta][64]
    float* const statistics = reinterpret_cast<float*>(stages + Tile::kStages * kStage);
    const int group = args.shape.group(), count = min(kRows, length - first);
    const int first_block = first / kKeyBlock, blocks = (length + kKeyBlock - 1) / kKeyBlock - first_block,
              iterations = group * blocks;

    const auto copy_block = [&](int iteration) {
      const int head = kv_head * group + iteration / blocks, query = (first_block + iteration % blocks) * kKeyBlock;
      Bf16* const queries = stages + iteration % Tile::kStages * kStage;
      Rows::template copy_spaced<kKeyBlock, kThreads>(queries, length - query,
                                                      args.qkv + args.query(head, start + query), args.qkv_stride());
      Rows::template copy_spaced<kKeyBlock, kThreads>(queries + kKeyBlock * HeadDim, length - query,
                                                      args.output_gradient(head, start + query), args.output_stride());
    };
    // Loads one statistic per thread. Queries past the end add nothing, because their rows are zeros.
    const auto statistic = [&](int iteration) {
      const int head = kv_head * group + iteration / blocks,
                query = (first_block + iteration % blocks) * kKeyBlock + static_cast<int>(threadIdx.x) % kKeyBlock;
      if (query >= length) return 0.0f;
      const std::ptrdiff_t row = args.row(head, start + query);
      return threadIdx.x < kKeyBlock ? args.log_sum_exp[row] * kLog2E : args.delta[row];
    };
    static_assert(kThreads == 2 * kKeyBlock);

    Rows::template copy_spaced<kRows, kThreads>(keys, count, args.qkv + args.key(kv_head, start + first),
                                                args.qkv_stride());
    Rows::template copy_spaced<kRows, kThreads>(values, count, args.qkv + args.value(kv_head, start + first),
                                                args.qkv_stride());
    copy_block(0);
    cp_async_commit();
    statistics[threadIdx.x] = statistic(0);

    constexpr bool kInRegisters = HeadDim <= 64;
    unsigned key_fragments[kInRegisters ? HeadDim / 16 : 1][4], value_fragments[kInRegisters ? HeadDim / 16 : 1][4];
    const int row = warp_index() * 16;
    const auto left_keys = [&](unsigned (&a)[4], int step) {
      if constexpr (kInRegisters) {
#pragma unroll
        for (int e = 0; e < 4; ++e) a[e] = key_fragments[step][e];
      } else {
        Rows::load_left(a, keys, row, step);
      }
    };
    const auto left_values = [&](unsigned (&a)[4], int step) {
      if constexpr (kInRegisters) {
#pragma unroll
        for (int e = 0; e < 4; ++e) a[e] = value_fragments[step][e];
      } else {
        Rows::load_left(a, values, row, step);
      }
    };
    const float log2_scale = args.shape.scale * kLog2E;
    float key_sums[HeadDim / 8][4], value_sums[HeadDim / 8][4];
    Tile::clear(key_sums);
    Tile::clear(value_sums);

    for (int iteration = 0; iteration < iterations; ++iteration) {
      cp_async_wait<0>();
      __syncthreads();  // the block has arrived, and all warps have finished the previous one
      const int stage = iteration % Tile::kStages;
      const bool more = iteration + 1 < iterations;
      if (more) copy_block(iteration + 1);
      cp_async_commit();
      const float next_statistic = more ? statistic(iteration + 1) : 0.0f;
      if constexpr (kInRegisters) {
        if (iteration == 0) {
#pragma unroll
          for (int step = 0; step < HeadDim / 16; ++step) {
            Rows::load_left(key_fragments[step], keys, row, step);
            Rows::load_left(value_fragments[step], values, row, step);
          }
        }
      }
      const Bf16* const queries = stages + stage * kStage;
      const float* const log2_sum_exp = statistics + stage * 2 * kKeyBlock;
      const float* const delta = log2_sum_exp + kKeyBlock;
      const bool diagonal = iteration % blocks == 0;
      for (int part = 0; part < kKeyBlock; part += Tile::kPart) {
        if (diagonal && part + Tile::kPart - 1 < row) continue;  // attends to none of the warp's keys
        float weights[4][4], score_gradients[4][4];
        Tile::multiply(weights, left_keys, queries, part);
        Tile::multiply(score_gradients, left_values, queries + kKeyBlock * HeadDim, part);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const int query = part + 8 * j + 2 * (lane_index() % 4);
          const float2 log2_sums = *reinterpret_cast<const float2*>(log2_sum_exp + query),
                       deltas = *reinterpret_cast<const float2*>(delta + query);
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const bool visible = !diagonal || row + 8 * (e / 2) + lane_index() / 4 <= query + e % 2;
            weights[j][e] =
                visible ? exp2_approximate(fmaf(weights[j][e], log2_scale, -(e % 2 == 0 ? log2_sums.x : log2_sums.y)))
                        : 0.0f;
            score_gradients[j][e] = weights[j][e] * (score_gradients[j][e] - (e % 2 == 0 ? deltas.x : deltas.y));
          }
        }
        Tile::add_weighted(value_sums, weights, queries + kKeyBlock * HeadDim, part);
        Tile::add_weighted(key_sums, score_gradients, queries, part);
      }
      statistics[(1 - stage) * 2 * kKeyBlock + threadIdx.x] = next_statistic;
    }
    cp_async_wait<0>();
    Tile::write(keys, key_sums, args.shape.scale, count,
                [&](int i) { return args.qkv_gradient + args.key(kv_head, start + first + i); });
    Tile::write(values, value_sums, 1.0f, count,
                [&](int i) { return args.qkv_gradient + args.value(kv_head, start + first + i); });
  }
};

}  // namespace starpo::cuda
