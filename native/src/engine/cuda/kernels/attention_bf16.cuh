#pragma once

#include "engine/cuda/kernels/attention.h"
#include "engine/cuda/kernels/attention_rows.cuh"
#include "engine/cuda/portable/bf16.h"
#include "engine/cuda/portable/tensor_core.h"
#include "engine/cuda/portable/warp.h"

namespace starpo::cuda {

// bf16 rows of a head in shared memory [rows][HeadDim], and the operands of mma.m16n8k16 loaded from them
// (portable/tensor_core.h has the layout by lane). ldmatrix reads the same 16-byte chunk of eight adjacent rows at
// once. The chunk index is XORed with the row, so that these eight chunks lie in different banks.
template <int HeadDim>
struct SharedRows {
  static constexpr int kChunks = HeadDim / 8;

  static __device__ __forceinline__ int offset(int row, int chunk) {
    constexpr int kMask = kChunks < 8 ? kChunks - 1 : 7;
    constexpr int kRowsPerLine = kChunks < 8 ? 8 / kChunks : 1;
    return row * HeadDim + (chunk ^ (row / kRowsPerLine & kMask)) * 8;
  }

  // Starts to copy `Rows` rows with `Threads` threads. Rows from `valid` on become zeros. `row(i)` returns the address
  // of row i.
  template <int Rows, int Threads, class Address>
  static __device__ __forceinline__ void copy(Bf16* tile, int valid, Address row,
                                              int thread = static_cast<int>(threadIdx.x)) {
    constexpr int kCopies = Rows * kChunks;
    [[maybe_unused]] constexpr int kUnrolled = kCopies <= 4 * Threads ? 4 : 2;  // each copy's address needs registers
#pragma unroll kUnrolled
    for (int first = 0; first < kCopies; first += Threads) {
      const int copy = first + thread;
      if (kCopies % Threads != 0 && copy >= kCopies) break;
      const int i = copy / kChunks, chunk = copy % kChunks;
      cp_async_16(tile + offset(i, chunk), row(i < valid ? i : 0) + chunk * 8, i < valid);
    }
  }

  // Starts to copy rows at a constant stride, with fewer instructions than copy().
  template <int Rows, int Threads>
  static __device__ __forceinline__ void copy_spaced(Bf16* tile, int valid, const Bf16* first, std::ptrdiff_t stride,
                                                     int thread = static_cast<int>(threadIdx.x)) {
    static_assert(Threads % kChunks == 0 && Rows * kChunks % Threads == 0);
    constexpr int kStep = Threads / kChunks;
    const int row = thread / kChunks, chunk = thread % kChunks;
    const Bf16* from = first + row * stride + chunk * 8;
#pragma unroll
    for (int i = 0; i < Rows; i += kStep) {
      cp_async_16(tile + offset(row + i, chunk), from, row + i < valid);
      from += kStep * stride;
    }
  }

  // Loads the left operand: 16 rows from `row`, 16 columns from 16 * step.
  static __device__ __forceinline__ void load_left(unsigned (&a)[4], const Bf16* tile, int row, int step) {
    const int lane = lane_index();
    ldmatrix_x4(a, tile + offset(row + lane % 16, 2 * step + lane / 16));
  }

  // Loads two right operands that multiply by the transpose of 16 rows from `row`, 16 columns from 16 * step. Each
  // covers 8 rows, which are 8 columns of the result.
  static __device__ __forceinline__ void load_transposed(unsigned (&b)[2][2], const Bf16* tile, int row, int step) {
    const int lane = lane_index();
    unsigned loaded[4];
    ldmatrix_x4(loaded, tile + offset(row + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2));
    split(b, loaded);
  }

  // Loads two right operands that multiply by 16 rows from `row`, 16 columns from 16 * step. Each covers 8 columns of
  // the result.
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

// Converts two adjacent accumulator tiles to the left operand of the next product.
__device__ __forceinline__ void as_left(unsigned (&a)[4], const float (&first)[4], const float (&second)[4]) {
  a[0] = pack_bf16(first[0], first[1]);
  a[1] = pack_bf16(first[2], first[3]);
  a[2] = pack_bf16(second[0], second[1]);
  a[3] = pack_bf16(second[2], second[3]);
}

// Reduce over the four lanes that share a row of an accumulator.
__device__ __forceinline__ float quad_sum(float x) {
  x += __shfl_xor_sync(kAllLanes, x, 1);
  return x + __shfl_xor_sync(kAllLanes, x, 2);
}
__device__ __forceinline__ float quad_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(kAllLanes, x, 1));
  return fmaxf(x, __shfl_xor_sync(kAllLanes, x, 2));
}

// Attention of Warps * Tiles * 16 query rows over blocks of 64 keys on tensor cores. Each warp has Tiles tiles of 16
// rows. Keys and values are prefetched into Stages buffers of shared memory. The four lanes of a quad share the state
// of a row. Halves = 1 uses only the first 8 of 16 rows, which saves the softmax of the others when decoding. The bits
// of a row don't depend on Warps, Tiles, Halves or Stages. With KeyWarps > 1, as many warps compute the same rows: each
// accumulates every KeyWarps-th block of keys with buffers of its own, and the first merges the sums, which rounds
// differently.
template <int HeadDim, int Warps, int Tiles, int Halves, int Stages, int KeyWarps = 1>
struct Bf16Attention {
  using Number = Bf16;
  using Rows = SharedRows<HeadDim>;
  static constexpr int kHeadDim = HeadDim;
  static constexpr int kThreads = Warps * KeyWarps * 32;
  // If Halves is 1, the last 8 rows of the tile are read from the first keys in shared memory. Their results are
  // unused.
  static constexpr int kRows = Halves == 1 ? 8 : Warps * Tiles * 16;
  static constexpr int kTeamElements = (kRows + Stages * 2 * kKeyBlock) * HeadDim;
  static constexpr int kSharedBytes = KeyWarps * kTeamElements * static_cast<int>(sizeof(Bf16));
  static_assert(Halves == 2 || Warps * Tiles == 1);
  static_assert(KeyWarps == 1 || Halves == 1);

  float out[Tiles][HeadDim / 8][4];
  RunningSoftmax softmax[Tiles][Halves];

  // Accumulates the keys [first_key, key_end) in `out` and `softmax`. first_key is a multiple of 64. Every row attends
  // to first_key, and no row attends to key_end or beyond.
  __device__ __forceinline__ void accumulate(void* shared, const QueryRows<Bf16>& rows, const KeyRows<Bf16>& source,
                                             int first_key, int key_end, float scale) {
    Bf16* const queries = queries_of(shared, key_warp());
    Rows::template copy<kRows, kTeam>(
        queries, rows.count, [&](int i) { return rows.template query<HeadDim>(i); }, team_thread());
    const int first_block = first_key / kKeyBlock + key_warp();
    prefetch_keys(queries, source, first_block, 0, key_end, key_end);
    accumulate_prefetched(shared, rows, source, first_block, key_end, scale);
  }

  // Does the same, but the block's threads call store() to write the queries (see queries_of) and the last key. The
  // other keys are prefetched before.
  template <class Store>
  __device__ __forceinline__ void accumulate_after(Store store, void* shared, const QueryRows<Bf16>& rows,
                                                   const KeyRows<Bf16>& source, int first_key, int key_end,
                                                   float scale) {
    Bf16* const queries = queries_of(shared, key_warp());
    const int first_block = first_key / kKeyBlock + key_warp();
    const int stage = prefetch_keys(queries, source, first_block, 0, (key_end - 1) / kKeyBlock * kKeyBlock, key_end);
    store();
    __syncthreads();
    prefetch_keys(queries, source, first_block, stage, key_end, key_end);
    accumulate_prefetched(shared, rows, source, first_block, key_end, scale);
  }

  // Returns the queries of a warp in shared memory, in the layout of SharedRows.
  static __device__ __forceinline__ Bf16* queries_of(void* shared, int key_warp) {
    return static_cast<Bf16*>(shared) + key_warp * kTeamElements;
  }
  static constexpr int kKeyWarps = KeyWarps;

  // Writes out * inverse_sum. Each warp stages its rows in the shared memory of its queries, so that it writes whole
  // 16-byte chunks.
  __device__ __forceinline__ void write_attended(void* shared, const QueryRows<Bf16>& rows) {
    if (key_warp() > 0) return;
    Bf16* const staging = static_cast<Bf16*>(shared);
    const int row = first_row();
    __syncwarp();
    for_each_row([&](int t, int h, int i) {
      const float inverse = softmax[t][h].inverse_sum();
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

  // Writes partial results for a merge: the sums before division [count][HeadDim], and (running_max, sum) [count][2].
  __device__ __forceinline__ void write_partials(float* sums, float* softmaxes, int count) {
    if (key_warp() > 0) return;
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
  static constexpr bool kQueriesInRegisters = Tiles * HeadDim <= 128;

  // The threads that copy blocks of keys and wait for them together.
  static constexpr int kTeam = KeyWarps == 1 ? kThreads : 32;
  static __device__ __forceinline__ int key_warp() { return KeyWarps == 1 ? 0 : warp_index(); }
  static __device__ __forceinline__ int team_thread() {
    return KeyWarps == 1 ? static_cast<int>(threadIdx.x) : lane_index();
  }
  static __device__ __forceinline__ void synchronize_team() {
    if constexpr (KeyWarps == 1)
      __syncthreads();
    else
      __syncwarp();
  }

  static __device__ __forceinline__ int first_row() { return KeyWarps == 1 ? warp_index() * (Tiles * 16) : 0; }
  static __device__ __forceinline__ Bf16* stage_keys(Bf16* queries, int stage) {
    return queries + (kRows + stage * 2 * kKeyBlock) * HeadDim;
  }

  static __device__ __forceinline__ void copy_keys(Bf16* queries, const KeyRows<Bf16>& source, int block, int stage,
                                                   int key_end) {
    const int first = block * kKeyBlock, thread = team_thread();
    Bf16* const keys = stage_keys(queries, stage);
    Bf16* const values = keys + kKeyBlock * HeadDim;
    if (source.prefix == 0 || first >= source.prefix || first + kKeyBlock <= source.prefix) {
      Rows::template copy_spaced<kKeyBlock, kTeam>(keys, key_end - first, source.key(first), source.stride, thread);
      Rows::template copy_spaced<kKeyBlock, kTeam>(values, key_end - first, source.value(first), source.stride, thread);
    } else {
      Rows::template copy<kKeyBlock, kTeam>(
          keys, key_end - first, [&](int i) { return source.key(first + i); }, thread);
      Rows::template copy<kKeyBlock, kTeam>(
          values, key_end - first, [&](int i) { return source.value(first + i); }, thread);
    }
  }

  // Prefetches the keys of a warp into stages from `stage` on, up to the first block that is not before `end`. Returns
  // the next stage. key_end: the end of all keys.
  static __device__ __forceinline__ int prefetch_keys(Bf16* queries, const KeyRows<Bf16>& source, int first_block,
                                                      int stage, int end, int key_end) {
    for (; stage < Stages - 1; ++stage) {
      const int block = first_block + stage * KeyWarps;
      if (block * kKeyBlock >= end && block * kKeyBlock < key_end) break;
      if (block * kKeyBlock < key_end) copy_keys(queries, source, block, stage, key_end);
      cp_async_commit();
    }
    return stage;
  }

  __device__ __forceinline__ void accumulate_prefetched(void* shared, const QueryRows<Bf16>& rows,
                                                        const KeyRows<Bf16>& source, int first_block, int key_end,
                                                        float scale) {
    Bf16* const queries = queries_of(shared, key_warp());
#pragma unroll
    for (int t = 0; t < Tiles; ++t) {
#pragma unroll
      for (int j = 0; j < HeadDim / 8; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) out[t][j][e] = 0.0f;
#pragma unroll
      for (int h = 0; h < Halves; ++h) softmax[t][h] = RunningSoftmax();
    }
    const int row = first_row(), end_block = (key_end + kKeyBlock - 1) / kKeyBlock;
    const int lowest = -highest_limit(rows, -1), highest = row < rows.count ? highest_limit(rows, 1) : -1;
    const float log2_scale = scale * kLog2E;

    int stage = 0, free_stage = Stages - 1;
    for (int block = first_block; block < end_block; block += KeyWarps) {
      cp_async_wait<Stages - 2>();
      synchronize_team();  // the block has arrived, and all warps have finished the previous one
      const int next = block + (Stages - 1) * KeyWarps;
      if (next < end_block) copy_keys(queries, source, next, free_stage, key_end);
      cp_async_commit();
      const Bf16* const keys = stage_keys(queries, stage);
      if (kQueriesInRegisters && block == first_block) {
#pragma unroll
        for (int t = 0; t < Tiles; ++t)
#pragma unroll
          for (int step = 0; step < HeadDim / 16; ++step)
            Rows::load_left(query_fragments_[kQueriesInRegisters ? t : 0][kQueriesInRegisters ? step : 0], queries,
                            row + 16 * t, step);
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
    if constexpr (KeyWarps > 1) merge_key_warps(shared);
  }

  // Adds the sums of the other warps to those of the first warp, in order. A lane holds the same elements in all warps.
  __device__ __forceinline__ void merge_key_warps(void* shared) {
    constexpr int kColumns = HeadDim / 4;  // of a lane
    const auto partial = [&](int warp, int i) -> float& {
      float* const partials = reinterpret_cast<float*>(queries_of(shared, warp));
      return partials[i * 32 + lane_index()];
    };
    RunningSoftmax& state = softmax[0][0];
    if (key_warp() > 0) {
      __syncwarp();  // before keys are overwritten
#pragma unroll
      for (int i = 0; i < kColumns; ++i) partial(key_warp(), i) = out[0][i / 2][i % 2];
      partial(key_warp(), kColumns) = state.running_max;
      partial(key_warp(), kColumns + 1) = state.sum;
    }
    __syncthreads();
    if (key_warp() > 0) return;
    for (int warp = 1; warp < KeyWarps; ++warp) {
      // The first warp has a key, so its maximum is finite. A warp without keys has the maximum minus infinity.
      const float other_max = partial(warp, kColumns), rescale = state.update_max(other_max),
                  share = exp2_approximate(other_max - state.running_max);
      state.sum = fmaf(partial(warp, kColumns + 1), share, state.sum * rescale);
#pragma unroll
      for (int i = 0; i < kColumns; ++i)
        out[0][i / 2][i % 2] = fmaf(partial(warp, i), share, out[0][i / 2][i % 2] * rescale);
    }
  }

  template <class Use>
  __device__ __forceinline__ void for_each_row(Use use) {
#pragma unroll
    for (int t = 0; t < Tiles; ++t)
#pragma unroll
      for (int h = 0; h < Halves; ++h) use(t, h, first_row() + 16 * t + 8 * h + lane_index() / 4);
  }

  // Returns the maximum of sign * limit over the warp's rows.
  static __device__ __forceinline__ int highest_limit(const QueryRows<Bf16>& rows, int sign) {
    int highest = sign * rows.limit(first_row() + lane_index() % (Halves == 1 ? 8 : Tiles * 16));
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
      highest = max(highest, __shfl_xor_sync(kAllLanes, highest, distance));
    return highest;
  }

  // scores = Q K^T
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
        if constexpr (kQueriesInRegisters) {
#pragma unroll
          for (int e = 0; e < 4; ++e) a[t][e] = query_fragments_[t][step][e];
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

  // Sets scores to minus infinity for keys past the row's limit. first: the block's first key.
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

  // Replaces scores with softmax weights, updates the running max and rescales the previous sums.
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

  // out += weights V
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

  unsigned query_fragments_[kQueriesInRegisters ? Tiles : 1][kQueriesInRegisters ? HeadDim / 16 : 1][4];
};

}  // namespace starpo::cuda
