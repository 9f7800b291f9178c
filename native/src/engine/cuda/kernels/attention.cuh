#pragma once

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "engine/cuda/kernels/attention.h"
#include "engine/cuda/portable/bf16.h"
#include "engine/cuda/portable/cuda.h"
#include "engine/cuda/portable/tensor_core.h"
#include "engine/cuda/portable/warp.h"

// FlashAttention over blocks of 64 keys: running softmax, then the fp32 and the tensor core implementation.
namespace starpo::cuda {

constexpr float kLog2E = 1.4426950408889634f;
constexpr float kLn2 = 0.6931471805599453f;

// 2^x, 0 for minus infinity and exactly 1 for 0.
__device__ __forceinline__ float exp2_approximate(float x) {
#if defined(__CUDA_ARCH__)
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
#else
  return exp2f(x);
#endif
}

// The online softmax of a row (Milakov & Gimelshein, arXiv 1805.02867) in powers of two, of scores scaled by scale *
// log2(e). Multiply-adds are explicit fmaf, so that all kernels round alike.
struct RunningSoftmax {
  float running_max = -INFINITY;
  float sum = 0.0f;

  // Updates the running max with a block's maximum scaled score. Returns the factor that rescales previous sums,
  // exactly 1 for a fully masked block (minus infinity). The first block must have an unmasked key.
  __device__ __forceinline__ float update_max(float block_max) {
    const float updated = fmaxf(running_max, block_max);
    const float rescale = exp2_approximate(running_max - updated);
    running_max = updated;
    return rescale;
  }
  __device__ __forceinline__ float weight(float score, float log2_scale) const {
    return exp2_approximate(fmaf(score, log2_scale, -running_max));
  }
};

// Addresses of the rows, which differ between packed sequences and the cache.

// The keys and values of one head of one sequence, by position.
template <class T>
struct KeyRows {
  const T* keys;  // of position 0
  const T* values;
  const T* prefix_keys;  // of position 0, for the positions before `prefix`
  const T* prefix_values;
  int prefix;
  std::ptrdiff_t stride;

  __device__ __forceinline__ const T* key(int position) const {
    return (position < prefix ? prefix_keys : keys) + position * stride;
  }
  __device__ __forceinline__ const T* value(int position) const {
    return (position < prefix ? prefix_values : values) + position * stride;
  }
};

// The queries of a block: row i is head i % group of token i / group.
template <class T>
struct QueryRows {
  const T* queries;
  std::ptrdiff_t query_stride;  // from a token to the next
  T* attended;
  std::ptrdiff_t attended_stride;
  const std::int32_t* positions;  // of the tokens; null: they follow first_position
  int first_position;
  int group;
  int count;  // rows

  template <int HeadDim>
  __device__ __forceinline__ const T* query(int row) const {
    return queries + row / group * query_stride + row % group * HeadDim;
  }
  template <int HeadDim>
  __device__ __forceinline__ T* output(int row) const {
    return attended + row / group * attended_stride + row % group * HeadDim;
  }
  // The last position that a row attends to. Rows past the end copy the last row; their results are unused.
  __device__ __forceinline__ int limit(int row) const {
    const int token = (row < count ? row : count - 1) / group;
    return positions == nullptr ? first_position + token : positions[token];
  }
};

// Rows of a head in shared memory, and the operands of mma.m16n8k16 taken from them. Lane l of a warp has the elements
// at row l / 4 and columns 2 * (l % 4) and one more of each 8x8 matrix; of an accumulator [4]: rows l / 4, l / 4 and
// then l / 4 + 8 twice.

// Rows of bf16. The 16-byte chunks of eight neighbouring rows at one column lie in different banks, which is what
// ldmatrix reads at a time.
template <int HeadDim>
struct SharedRows {
  static constexpr int kChunks = HeadDim / 8;

  static __device__ __forceinline__ int offset(int row, int chunk) {
    constexpr int kMask = kChunks < 8 ? kChunks - 1 : 7;
    constexpr int kRowsOfAllBanks = kChunks < 8 ? 8 / kChunks : 1;
    return row * HeadDim + (chunk ^ (row / kRowsOfAllBanks & kMask)) * 8;
  }

  // Starts copying `Rows` rows; rows from `valid` on become zeros. `row(i)` returns the address of row i.
  template <int Rows, int Threads, class Address>
  static __device__ __forceinline__ void copy(Bf16* tile, int valid, Address row) {
    constexpr int kCopies = Rows * kChunks;
    [[maybe_unused]] constexpr int kUnrolled = kCopies <= 4 * Threads ? 4 : 2;  // many addresses need many registers
#pragma unroll kUnrolled
    for (int first = 0; first < kCopies; first += Threads) {
      const int copy = first + static_cast<int>(threadIdx.x);
      if (kCopies % Threads != 0 && copy >= kCopies) break;
      const int i = copy / kChunks, chunk = copy % kChunks;
      cp_async_16(tile + offset(i, chunk), row(i < valid ? i : 0) + chunk * 8, i < valid);
    }
  }

  // The same for rows at a constant stride, with fewer instructions.
  template <int Rows, int Threads>
  static __device__ __forceinline__ void copy_spaced(Bf16* tile, int valid, const Bf16* first, std::ptrdiff_t stride) {
    static_assert(Threads % kChunks == 0 && Rows * kChunks % Threads == 0);
    constexpr int kStep = Threads / kChunks;
    const int row = static_cast<int>(threadIdx.x) / kChunks, chunk = static_cast<int>(threadIdx.x) % kChunks;
    const Bf16* from = first + row * stride + chunk * 8;
#pragma unroll
    for (int i = 0; i < Rows; i += kStep) {
      cp_async_16(tile + offset(row + i, chunk), from, row + i < valid);
      from += kStep * stride;
    }
  }

  // Left operand: 16 rows from `row`, columns 16 * step and on.
  static __device__ __forceinline__ void load_left(unsigned (&a)[4], const Bf16* tile, int row, int step) {
    const int lane = lane_index();
    ldmatrix_x4(a, tile + offset(row + lane % 16, 2 * step + lane / 16));
  }

  // Right operands that multiply by the rows' transpose, for 16 rows (two tiles of 8 columns of the result), inner
  // columns 16 * step and on.
  static __device__ __forceinline__ void load_transposed(unsigned (&b)[2][2], const Bf16* tile, int row, int step) {
    const int lane = lane_index();
    unsigned loaded[4];
    ldmatrix_x4(loaded, tile + offset(row + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2));
    split(b, loaded);
  }

  // Right operands that multiply by the rows themselves: 16 rows from `row` inside, columns 16 * step and on of the
  // result (two tiles of 8).
  static __device__ __forceinline__ void load_right(unsigned (&b)[2][2], const Bf16* tile, int row, int step) {
    const int lane = lane_index();
    unsigned loaded[4];
    ldmatrix_x4_trans(loaded, tile + offset(row + lane % 16, 2 * step + lane / 16));
    split(b, loaded);
  }

 private:
  static __device__ __forceinline__ void split(unsigned (&b)[2][2], const unsigned (&loaded)[4]) {
    b[0][0] = loaded[0];
    b[0][1] = loaded[1];
    b[1][0] = loaded[2];
    b[1][1] = loaded[3];
  }
};

// Two neighbouring accumulator tiles as the left operand of the next product.
__device__ __forceinline__ void as_left(unsigned (&a)[4], const float (&first)[4], const float (&second)[4]) {
  a[0] = pack_bf16(first[0], first[1]);
  a[1] = pack_bf16(first[2], first[3]);
  a[2] = pack_bf16(second[0], second[1]);
  a[3] = pack_bf16(second[2], second[3]);
}

// Sum and maximum over the four lanes that share a row of an accumulator.
__device__ __forceinline__ float quad_sum(float x) {
  x += __shfl_xor_sync(kAllLanes, x, 1);
  return x + __shfl_xor_sync(kAllLanes, x, 2);
}
__device__ __forceinline__ float quad_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(kAllLanes, x, 1));
  return fmaxf(x, __shfl_xor_sync(kAllLanes, x, 2));
}

// Plain fp32 products of a warp's four rows with a block of 64 rows in shared memory. Every result is one chain of fmaf
// in a fixed order.
template <int HeadDim>
struct PlainTile {
  static constexpr int kWarps = 4, kThreads = kWarps * 32;
  static constexpr int kWarpRows = 4, kRows = kWarps * kWarpRows;
  static constexpr int kStride =
      HeadDim + 4;  // of the block's rows: reads of neighbouring rows by float4 fall into different banks
  static constexpr int kColumns = (HeadDim + 31) / 32;

  // Copies `count` rows (zeros for those from `valid` on), `stride` floats apart. `row(i)` returns the address of row
  // i.
  template <class Address>
  static __device__ __forceinline__ void copy(float* tile, int stride, int count, int valid, Address row) {
    for (int i = threadIdx.x; i < count * (HeadDim / 4); i += kThreads) {
      const int r = i / (HeadDim / 4), column = i % (HeadDim / 4) * 4;
      float4 values = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      if (r < valid) values = *reinterpret_cast<const float4*>(row(r) + column);
      *reinterpret_cast<float4*>(tile + r * stride + column) = values;
    }
  }

  // products[r][i]: the warp's row r [.., HeadDim] times the block's row lane + 32 * i.
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

  // sums[r][i] += weights[r][.] times column lane + 32 * i of the block. weights: [kWarpRows][64], the warp's own.
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

// Attention of 16 query rows over blocks of 64 keys in fp32, four rows per warp: one lane per key for scores, one lane
// per column for values.
template <int HeadDim>
struct PlainAttention {
  using Number = float;
  using Tile = PlainTile<HeadDim>;
  static constexpr int kHeadDim = HeadDim;
  static constexpr int kThreads = Tile::kThreads;
  static constexpr int kRows = Tile::kRows;
  static constexpr int kSharedBytes =
      (kRows * HeadDim + 2 * kKeyBlock * Tile::kStride + kRows * kKeyBlock) * static_cast<int>(sizeof(float));

  float out[Tile::kWarpRows][Tile::kColumns];
  RunningSoftmax softmax[Tile::kWarpRows];

  // As TensorAttention's.
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
      if (row < rows.count) rows.template output<HeadDim>(row)[column] = out[r][i] / softmax[r].sum;
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

  // Computes the weights of row r for the block's keys up to `limit` and rescales the previous sums to the new max.
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

// Attention of Warps * Tiles * 16 query rows over blocks of 64 keys on tensor cores. The four lanes of a quad share the
// state of a row. Halves = 1 uses only the first 8 of each 16 rows, which saves their softmax when decoding. The bits
// of a row don't depend on Warps, Tiles, Halves or Stages.
template <int HeadDim, int Warps, int Tiles, int Halves, int Stages>
struct TensorAttention {
  using Number = Bf16;
  using Rows = SharedRows<HeadDim>;
  static constexpr int kHeadDim = HeadDim;
  static constexpr int kThreads = Warps * 32;
  static constexpr int kTileRows = Warps * Tiles * 16;  // the last 8 of each 16 are unused if Halves is 1
  static constexpr int kRows = Halves == 1 ? 8 : kTileRows;
  static constexpr int kSharedBytes = (kTileRows + Stages * 2 * kKeyBlock) * HeadDim * static_cast<int>(sizeof(Bf16));
  static_assert(Halves == 2 || Warps * Tiles == 1);

  float out[Tiles][HeadDim / 8][4];
  RunningSoftmax softmax[Tiles][Halves];

  // Accumulates keys first_key (a multiple of 64) up to key_end. No row attends beyond key_end; every row attends to
  // the first key.
  __device__ __forceinline__ void accumulate(void* shared, const QueryRows<Bf16>& rows, const KeyRows<Bf16>& source,
                                             int first_key, int key_end, float scale) {
    Bf16* const queries = static_cast<Bf16*>(shared);
    const int row = first_row();
    const int first_block = first_key / kKeyBlock, end_block = (key_end + kKeyBlock - 1) / kKeyBlock;

    Rows::template copy<kTileRows, kThreads>(queries, rows.count,
                                             [&](int i) { return rows.template query<HeadDim>(i); });
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
      __syncthreads();  // the block has arrived, and all warps have finished the previous one
      if (block + Stages - 1 < end_block) copy_keys(shared, source, block + Stages - 1, free_stage, key_end);
      cp_async_commit();
      const Bf16* const keys = stage_keys(shared, stage);
      if (kHoldQueries && block == first_block) {
#pragma unroll
        for (int t = 0; t < Tiles; ++t)
#pragma unroll
          for (int step = 0; step < HeadDim / 16; ++step)
            Rows::load_left(held_[kHoldQueries ? t : 0][kHoldQueries ? step : 0], queries, row + 16 * t, step);
      }
      if (block * kKeyBlock <= highest) {
        float scores[Tiles][8][4];
        multiply_keys(scores, queries, keys, row);
        if (block * kKeyBlock + kKeyBlock - 1 > lowest) mask(scores, rows, block * kKeyBlock);
        apply_softmax(scores, log2_scale);
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

  // Writes the result: each warp stages its rows in the shared memory of its queries, so that whole chunks are written.
  __device__ __forceinline__ void write_attended(void* shared, const QueryRows<Bf16>& rows) {
    Bf16* const staging = static_cast<Bf16*>(shared);
    const int row = first_row();
    __syncwarp();
    for_each_row([&](int t, int h, int i) {
      const float inverse = 1.0f / softmax[t][h].sum;
#pragma unroll
      for (int j = 0; j < HeadDim / 8; ++j)
        *reinterpret_cast<unsigned*>(staging + Rows::offset(i, j) + 2 * (lane_index() % 4)) =
            pack_bf16(out[t][j][2 * h] * inverse, out[t][j][2 * h + 1] * inverse);
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
      if (i < count && lane_index() % 4 == 0)
        log_sum_exp[i] = softmax[t][h].running_max * kLn2 + logf(softmax[t][h].sum);
    });
  }

  // Writes partial results for a merge: undivided sums [count][HeadDim] and (max, sum) [count][2].
  __device__ __forceinline__ void write_partials(float* sums, float* softmaxes, int count) {
    for_each_row([&](int t, int h, int i) {
      if (i >= count) return;
#pragma unroll
      for (int j = 0; j < HeadDim / 8; ++j)
        *reinterpret_cast<float2*>(sums + i * HeadDim + 8 * j + 2 * (lane_index() % 4)) =
            make_float2(out[t][j][2 * h], out[t][j][2 * h + 1]);
      if (lane_index() % 4 == 0)
        *reinterpret_cast<float2*>(softmaxes + 2 * i) = make_float2(softmax[t][h].running_max, softmax[t][h].sum);
    });
  }

 private:
  static constexpr bool kHoldQueries = Tiles * HeadDim <= 128;

  static __device__ __forceinline__ int first_row() { return warp_index() * (Tiles * 16); }
  static __device__ __forceinline__ Bf16* stage_keys(void* shared, int stage) {
    return static_cast<Bf16*>(shared) + (kTileRows + stage * 2 * kKeyBlock) * HeadDim;
  }

  static __device__ __forceinline__ void copy_keys(void* shared, const KeyRows<Bf16>& source, int block, int stage,
                                                   int key_end) {
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

  // The maximum of sign * limit over the warp's rows.
  static __device__ __forceinline__ int highest_limit(const QueryRows<Bf16>& rows, int sign) {
    int highest = sign * rows.limit(first_row() + lane_index() % (Halves == 1 ? 8 : Tiles * 16));
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
      highest = max(highest, __shfl_xor_sync(kAllLanes, highest, distance));
    return highest;
  }

  // scores = queries keys^T
  __device__ __forceinline__ void multiply_keys(float (&scores)[Tiles][8][4], const Bf16* queries, const Bf16* keys,
                                                int row) {
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

  // Replaces scores by softmax weights and rescales the previous sums to the new max.
  __device__ __forceinline__ void apply_softmax(float (&scores)[Tiles][8][4], float log2_scale) {
#pragma unroll
    for (int t = 0; t < Tiles; ++t)
#pragma unroll
      for (int h = 0; h < Halves; ++h) {
        float row_max = scores[t][0][2 * h];
#pragma unroll
        for (int j = 0; j < 8; ++j) row_max = fmaxf(row_max, fmaxf(scores[t][j][2 * h], scores[t][j][2 * h + 1]));
        RunningSoftmax& state = softmax[t][h];
        const float rescale = state.update_max(quad_max(row_max) * log2_scale);
        float sum = 0.0f;
#pragma unroll
        for (int j = 0; j < 8; ++j) {
          scores[t][j][2 * h] = state.weight(scores[t][j][2 * h], log2_scale);
          scores[t][j][2 * h + 1] = state.weight(scores[t][j][2 * h + 1], log2_scale);
          sum += scores[t][j][2 * h] + scores[t][j][2 * h + 1];
        }
        state.sum = fmaf(state.sum, rescale, sum);
#pragma unroll
        for (int j = 0; j < HeadDim / 8; ++j) {
          out[t][j][2 * h] *= rescale;
          out[t][j][2 * h + 1] *= rescale;
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

// The implementation for each case. All implementations of a number type give the same bits.

template <class T, int HeadDim>
struct Engines {  // float
  using Forward = PlainAttention<HeadDim>;
  using Prefill = PlainAttention<HeadDim>;
  using Decode = PlainAttention<HeadDim>;
};

template <int HeadDim>
struct Engines<Bf16, HeadDim> {
  // 32 rows per warp halve the shared memory reads of 16, but don't fit into registers with 128 columns.
  using Forward = TensorAttention<HeadDim, 4, (HeadDim <= 64 ? 2 : 1), 2, 2>;
  using Prefill = TensorAttention<HeadDim, 4, 1, 2, 2>;
  // One warp for a token's heads, with key blocks prefetched.
  using Decode = TensorAttention<HeadDim, 1, 1, 1, 3>;
};

// Calls launch with the head dimension as a template argument.
template <class Launch>
void with_head_dim(int head_dim, Launch launch) {
  switch (head_dim) {
    case 16: return launch.template operator()<16>();
    case 32: return launch.template operator()<32>();
    case 64: return launch.template operator()<64>();
    case 128: return launch.template operator()<128>();
    default: throw std::invalid_argument("attention: no kernel for head_dim " + std::to_string(head_dim));
  }
}

}  // namespace starpo::cuda
