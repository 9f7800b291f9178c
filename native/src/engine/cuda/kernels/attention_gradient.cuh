#pragma once

#include <cstddef>

#include "engine/cuda/kernels/attention.cuh"

namespace starpo::cuda {

// Inputs and outputs of the backward kernels, by head and token. With weights P = softmax(scale * Q K^T) and the
// output's gradient G (FlashAttention-2, section 2.3): dV = P^T G, dP = G V^T, dS = P * (dP - delta) with delta = sum
// over columns of G * output, dQ = scale * dS K, dK = scale * dS^T Q.
template <class T, int HeadDim>
struct AttentionGradient {
  AttentionShape shape;
  PackedSequences sequences;
  const T* qkv;
  const T* attended_gradient;
  const float* log_sum_exp;
  const float* delta;
  T* qkv_gradient;

  __device__ __forceinline__ std::ptrdiff_t query(int head, int token) const {
    return static_cast<std::ptrdiff_t>(token) * shape.qkv_width() + head * HeadDim;
  }
  __device__ __forceinline__ std::ptrdiff_t key(int kv_head, int token) const {
    return query(shape.heads + kv_head, token);
  }
  __device__ __forceinline__ std::ptrdiff_t value(int kv_head, int token) const {
    return query(shape.heads + shape.kv_heads + kv_head, token);
  }
  __device__ __forceinline__ const T* output_gradient(int head, int token) const {
    return attended_gradient + (static_cast<std::ptrdiff_t>(token) * shape.heads + head) * HeadDim;
  }
  __device__ __forceinline__ std::ptrdiff_t qkv_stride() const { return shape.qkv_width(); }
  __device__ __forceinline__ std::ptrdiff_t output_stride() const { return shape.heads * HeadDim; }
  __device__ __forceinline__ std::ptrdiff_t row(int head, int token) const {
    return static_cast<std::ptrdiff_t>(head) * sequences.tokens + token;
  }
};

// Shared by both backward kernels in fp32: four rows per warp times blocks of 64 rows, two per lane.
template <int HeadDim>
struct PlainGradientTile : PlainTile<HeadDim> {
  using Tile = PlainTile<HeadDim>;
  using Sums = float[Tile::kWarpRows][Tile::kColumns];

  // Two tiles of the block's own rows, two of the streamed rows, and two sets of weights.
  static constexpr int kSharedBytes =
      (2 * Tile::kRows * HeadDim + 2 * kKeyBlock * Tile::kStride + 2 * Tile::kRows * kKeyBlock) *
      static_cast<int>(sizeof(float));
  struct Shared {
    float *first_rows, *second_rows, *first_block, *second_block, *first_weights,
        *second_weights;  // the rows' and weights' are the warp's own

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
  static constexpr int kHeadDim = HeadDim, kThreads = Tile::kThreads, kRows = Tile::kRows,
                       kSharedBytes = Tile::kSharedBytes;

  static __device__ __forceinline__ void accumulate(void* memory, const AttentionGradient<float, HeadDim>& of, int head,
                                                    int start, int first, int count) {
    const typename Tile::Shared shared(memory);
    float* const queries = static_cast<float*>(memory);
    const int kv_head = head / of.shape.group(), key_end = first + count, row = Tile::first_row();
    Tile::copy(queries, HeadDim, kRows, count, [&](int i) { return of.qkv + of.query(head, start + first + i); });
    Tile::copy(queries + kRows * HeadDim, HeadDim, kRows, count,
               [&](int i) { return of.output_gradient(head, start + first + i); });
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
      __syncthreads();  // all warps have finished the previous block
      Tile::copy(shared.first_block, Tile::kStride, kKeyBlock, key_end - key,
                 [&](int i) { return of.qkv + of.key(kv_head, start + key + i); });
      Tile::copy(shared.second_block, Tile::kStride, kKeyBlock, key_end - key,
                 [&](int i) { return of.qkv + of.value(kv_head, start + key + i); });
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
    Tile::write(sums, of.shape.scale, count,
                [&](int i) { return of.qkv_gradient + of.query(head, start + first + i); });
  }
};

// As TensorKeyGradient, for 16 keys.
template <int HeadDim>
struct PlainKeyGradient {
  using Number = float;
  using Tile = PlainGradientTile<HeadDim>;
  static constexpr int kHeadDim = HeadDim, kThreads = Tile::kThreads, kRows = Tile::kRows,
                       kSharedBytes = Tile::kSharedBytes;

  static __device__ __forceinline__ void accumulate(void* memory, const AttentionGradient<float, HeadDim>& of,
                                                    int kv_head, int start, int first, int length) {
    const typename Tile::Shared shared(memory);
    float* const keys = static_cast<float*>(memory);
    const int group = of.shape.group(), count = min(kRows, length - first), row = Tile::first_row();
    Tile::copy(keys, HeadDim, kRows, count, [&](int i) { return of.qkv + of.key(kv_head, start + first + i); });
    Tile::copy(keys + kRows * HeadDim, HeadDim, kRows, count,
               [&](int i) { return of.qkv + of.value(kv_head, start + first + i); });
    typename Tile::Sums key_sums, value_sums;
    Tile::clear(key_sums);
    Tile::clear(value_sums);
    for (int head = kv_head * group; head < (kv_head + 1) * group; ++head)
      for (int block = first / kKeyBlock * kKeyBlock; block < length; block += kKeyBlock) {
        __syncthreads();  // all warps have finished the previous block
        Tile::copy(shared.first_block, Tile::kStride, kKeyBlock, length - block,
                   [&](int i) { return of.qkv + of.query(head, start + block + i); });
        Tile::copy(shared.second_block, Tile::kStride, kKeyBlock, length - block,
                   [&](int i) { return of.output_gradient(head, start + block + i); });
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
    Tile::write(key_sums, of.shape.scale, count,
                [&](int i) { return of.qkv_gradient + of.key(kv_head, start + first + i); });
    Tile::write(value_sums, 1.0f, count, [&](int i) { return of.qkv_gradient + of.value(kv_head, start + first + i); });
  }
};

// Shared by both backward kernels on tensor cores: four warps of 16 rows times blocks of 64 rows, loaded in two stages
// of 32.
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

  // Writes the warp's rows, up to `count`, through its part of `staging`, a tile of kRows that other warps don't touch
  // there.
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

// Computes dQ of 64 queries of a head, over the keys they attend to.
template <int HeadDim>
struct TensorQueryGradient {
  using Number = Bf16;
  using Tile = TensorGradientTile<HeadDim>;
  using Rows = typename Tile::Rows;
  static constexpr int kHeadDim = HeadDim, kThreads = Tile::kThreads, kRows = Tile::kRows,
                       kSharedBytes = Tile::kTileBytes;

  static __device__ __forceinline__ void accumulate(void* shared, const AttentionGradient<Bf16, HeadDim>& of, int head,
                                                    int start, int first, int count) {
    Bf16* const queries = static_cast<Bf16*>(shared);
    Bf16* const gradients = queries + kRows * HeadDim;
    Bf16* const stages = gradients + kRows * HeadDim;
    constexpr int kStage = 2 * kKeyBlock * HeadDim;
    const int kv_head = head / of.shape.group(), key_end = first + count,
              blocks = (key_end + kKeyBlock - 1) / kKeyBlock;
    const auto copy_block = [&](int block) {
      Bf16* const keys = stages + block % Tile::kStages * kStage;
      const int key = block * kKeyBlock;
      Rows::template copy_spaced<kKeyBlock, kThreads>(keys, key_end - key, of.qkv + of.key(kv_head, start + key),
                                                      of.qkv_stride());
      Rows::template copy_spaced<kKeyBlock, kThreads>(keys + kKeyBlock * HeadDim, key_end - key,
                                                      of.qkv + of.value(kv_head, start + key), of.qkv_stride());
    };

    Rows::template copy_spaced<kRows, kThreads>(queries, count, of.qkv + of.query(head, start + first),
                                                of.qkv_stride());
    Rows::template copy_spaced<kRows, kThreads>(gradients, count, of.output_gradient(head, start + first),
                                                of.output_stride());
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
      __syncthreads();  // the block has arrived, and all warps have finished the previous one
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
            const bool seen = all_seen || key + 8 * j + 2 * (lane_index() % 4) + e % 2 <=
                                              first + row + 8 * (e / 2) + lane_index() / 4;
            const float weight = seen ? exp2_approximate(fmaf(weights[j][e], log2_scale, -log2_sum_exp[e / 2])) : 0.0f;
            slopes[j][e] = weight * (slopes[j][e] - delta[e / 2]);
          }
        Tile::add_weighted(sums, slopes, keys, part);
      }
    }
    cp_async_wait<0>();
    Tile::write(queries, sums, of.shape.scale, count,
                [&](int i) { return of.qkv_gradient + of.query(head, start + first + i); });
  }
};

// Computes dK and dV of 64 keys of a key-value head, over the queries of its group that attend to them.
template <int HeadDim>
struct TensorKeyGradient {
  using Number = Bf16;
  using Tile = TensorGradientTile<HeadDim>;
  using Rows = typename Tile::Rows;
  static constexpr int kHeadDim = HeadDim, kThreads = Tile::kThreads, kRows = Tile::kRows;
  static constexpr int kSharedBytes =
      Tile::kTileBytes + Tile::kStages * 2 * kKeyBlock * static_cast<int>(sizeof(float));

  static __device__ __forceinline__ void accumulate(void* shared, const AttentionGradient<Bf16, HeadDim>& of,
                                                    int kv_head, int start, int first, int length) {
    Bf16* const keys = static_cast<Bf16*>(shared);
    Bf16* const values = keys + kRows * HeadDim;
    Bf16* const stages = values + kRows * HeadDim;
    constexpr int kStage = 2 * kKeyBlock * HeadDim;
    float* const statistics =
        reinterpret_cast<float*>(stages + Tile::kStages * kStage);  // [stages][log-sum-exp in base 2 | delta][64]
    const int group = of.shape.group(), count = min(kRows, length - first);
    const int first_block = first / kKeyBlock, blocks = (length + kKeyBlock - 1) / kKeyBlock - first_block,
              iterations = group * blocks;

    const auto copy_block = [&](int iteration) {
      const int head = kv_head * group + iteration / blocks, query = (first_block + iteration % blocks) * kKeyBlock;
      Bf16* const queries = stages + iteration % Tile::kStages * kStage;
      Rows::template copy_spaced<kKeyBlock, kThreads>(queries, length - query, of.qkv + of.query(head, start + query),
                                                      of.qkv_stride());
      Rows::template copy_spaced<kKeyBlock, kThreads>(queries + kKeyBlock * HeadDim, length - query,
                                                      of.output_gradient(head, start + query), of.output_stride());
    };
    // One per thread. Queries past the end add nothing, because their rows are zeros.
    const auto statistic = [&](int iteration) {
      const int head = kv_head * group + iteration / blocks,
                query = (first_block + iteration % blocks) * kKeyBlock + static_cast<int>(threadIdx.x) % kKeyBlock;
      if (query >= length) return 0.0f;
      const std::ptrdiff_t row = of.row(head, start + query);
      return threadIdx.x < kKeyBlock ? of.log_sum_exp[row] * kLog2E : of.delta[row];
    };
    static_assert(kThreads == 2 * kKeyBlock);

    Rows::template copy_spaced<kRows, kThreads>(keys, count, of.qkv + of.key(kv_head, start + first), of.qkv_stride());
    Rows::template copy_spaced<kRows, kThreads>(values, count, of.qkv + of.value(kv_head, start + first),
                                                of.qkv_stride());
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
      __syncthreads();  // the block has arrived, and all warps have finished the previous one
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
          const float2 of_queries = *reinterpret_cast<const float2*>(log2_sum_exp + query),
                       deltas = *reinterpret_cast<const float2*>(delta + query);
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const bool seen = !diagonal || row + 8 * (e / 2) + lane_index() / 4 <= query + e % 2;
            weights[j][e] =
                seen ? exp2_approximate(fmaf(weights[j][e], log2_scale, -(e % 2 == 0 ? of_queries.x : of_queries.y)))
                     : 0.0f;
            slopes[j][e] = weights[j][e] * (slopes[j][e] - (e % 2 == 0 ? deltas.x : deltas.y));
          }
        }
        Tile::add_weighted(value_sums, weights, queries + kKeyBlock * HeadDim, part);
        Tile::add_weighted(key_sums, slopes, queries, part);
      }
      statistics[(1 - stage) * 2 * kKeyBlock + threadIdx.x] = next_statistic;
    }
    cp_async_wait<0>();
    Tile::write(keys, key_sums, of.shape.scale, count,
                [&](int i) { return of.qkv_gradient + of.key(kv_head, start + first + i); });
    Tile::write(values, value_sums, 1.0f, count,
                [&](int i) { return of.qkv_gradient + of.value(kv_head, start + first + i); });
  }
};

}  // namespace starpo::cuda
