#pragma once

#include "engine/cuda/kernels/gemm.h"
#include "engine/cuda/kernels/swiglu_of.h"
#include "engine/cuda/portable/bf16.h"
#include "engine/cuda/portable/cuda.h"
#include "engine/cuda/portable/tensor_core.h"

// The bf16 matrix product on tensor cores. In this order: tiles of the operands in shared memory, storing the result,
// the sums of a warp, the kernel, and its shapes.
namespace starpo::cuda {

// The size of a block's tile, and how the warps share it.
template <int TileM, int TileN, int TileK, int WarpsM, int WarpsN, int Stages, int Blocks>
struct GemmShape {
  static constexpr int kM = TileM, kN = TileN, kK = TileK;
  static constexpr int kWarpsN = WarpsN;
  static constexpr int kThreads = 32 * WarpsM * WarpsN;
  static constexpr int kStages = Stages;          // tiles of a and b in shared memory: in use or being copied
  static constexpr int kResidentBlocks = Blocks;  // minimum per multiprocessor, which limits the registers
  static constexpr int kWarpM = TileM / WarpsM, kWarpN = TileN / WarpsN;
  static constexpr int kStageElements = (TileM + TileN) * TileK;
  static constexpr int kSharedBytes = Stages * kStageElements * static_cast<int>(sizeof(Bf16));
  static_assert(kWarpM % 16 == 0 && kWarpN % 16 == 0 && TileK % 16 == 0);
};

inline constexpr int kChunk = 8;  // bf16 numbers in 16 bytes, the unit of cp.async and of a row of ldmatrix

// A tile in shared memory, [Rows][Columns]. ldmatrix reads the same chunk of eight rows at once. The chunk index is
// XORed with the row index (swizzling), so that these eight chunks lie in different banks without padding.
template <int Rows, int Columns>
struct SharedTile {
  static constexpr int kChunks = Columns / kChunk;
  static constexpr int kRowsPerLine = kChunks >= 8 ? 1 : 8 / kChunks;  // a line is 128 bytes, one word of each bank
  static constexpr int kSwizzledChunks = kChunks >= 8 ? 8 : kChunks;

  static __device__ __forceinline__ int offset(int row, int chunk) {
    return (row * kChunks + (chunk ^ (row / kRowsPerLine % kSwizzledChunks))) * kChunk;
  }
};

// Starts to copy a tile. Elements outside [rows, columns] become zero. row_of maps a row of the tile to one of the
// source.
template <int Rows, int Columns, int Threads, class RowOf>
__device__ __forceinline__ void copy_tile(Bf16* tile, const Bf16* source, int ld, int rows, int first_column,
                                          int columns, RowOf row_of) {
  using Layout = SharedTile<Rows, Columns>;
  constexpr int total = Rows * Layout::kChunks;
  static_assert(total % Threads == 0);
#pragma unroll
  for (int i = 0; i < total / Threads; ++i) {
    const int index = i * Threads + static_cast<int>(threadIdx.x);
    const int row = index / Layout::kChunks, chunk = index % Layout::kChunks;
    const int source_row = row_of(row), source_column = first_column + chunk * kChunk;
    // No branch is needed, because an invalid address isn't read.
    const bool valid = (source_row < rows) & (source_column < columns);
    cp_async_16(tile + Layout::offset(row, chunk),
                source + static_cast<std::ptrdiff_t>(source_row) * ld + source_column, valid);
  }
}

// The tile of an operand for a step along k. KInner: the layout in global and shared memory is [extent][k], otherwise
// [k][extent].
template <bool KInner, int Extent, int TileK, int Threads>
struct Operand {
  using Layout = SharedTile<KInner ? Extent : TileK, KInner ? TileK : Extent>;

  // row_of maps an index of the tile to one of the operand. k_end: the end of the block's sum.
  template <class RowOf>
  static __device__ __forceinline__ void copy(Bf16* tile, const Bf16* source, int ld, int first, int extent, int k,
                                              int k_end, RowOf row_of) {
    if constexpr (KInner)
      copy_tile<Extent, TileK, Threads>(tile, source, ld, extent, k, k_end, row_of);
    else
      copy_tile<TileK, Extent, Threads>(tile, source, ld, k_end, first, extent, [k](int row) { return k + row; });
  }

  // Loads the fragment of a for mma.m16n8k16: rows [row, row + 16), k [16 step, 16 step + 16).
  static __device__ __forceinline__ void load_a(unsigned (&fragment)[4], const Bf16* tile, int row, int step) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if constexpr (KInner)
      ldmatrix_x4(fragment, tile + Layout::offset(row + lane % 16, step * 2 + lane / 16));
    else
      ldmatrix_x4_trans(fragment,
                        tile + Layout::offset(step * 16 + lane % 8 + lane / 16 * 8, row / kChunk + lane / 8 % 2));
  }

  // Loads the fragments of b for two products: columns [column, column + 8) in fragment[0..1], the next eight in
  // fragment[2..3].
  static __device__ __forceinline__ void load_b(unsigned (&fragment)[4], const Bf16* tile, int column, int step) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if constexpr (KInner)
      ldmatrix_x4(fragment, tile + Layout::offset(column + lane % 8 + lane / 16 * 8, step * 2 + lane / 8 % 2));
    else
      ldmatrix_x4_trans(fragment, tile + Layout::offset(step * 16 + lane % 16, column / kChunk + lane / 16));
  }
};

// The destination of a product.
struct GemmResult {
  int m, n;
  void* c;  // fp32 or bf16
  int ldc;
  bool bf16;
  bool accumulate;
  bool pairs;  // two adjacent elements, the first in an even column, may be stored at once
  const float* bias;
};

// Returns the destination of block `part` of a split in partials [split][m][n rounded up to even].
STARPO_HOST_DEVICE inline GemmResult partial_result(const GemmResult& result, float* partials, int part) {
  const int ld = result.n + result.n % 2;
  return {result.m, result.n, partials + static_cast<std::size_t>(part) * result.m * ld, ld, false, false,
          true,     nullptr};
}

__device__ __forceinline__ float add_bias(const GemmResult& result, float sum, int column) {
  return result.bias ? sum + result.bias[column] : sum;
}

__device__ __forceinline__ void store_one(const GemmResult& result, int row, int column, float value) {
  const std::size_t at = static_cast<std::size_t>(row) * result.ldc + column;
  if (result.bf16)
    static_cast<Bf16*>(result.c)[at] = from_float<Bf16>(value);
  else
    static_cast<float*>(result.c)[at] = result.accumulate ? static_cast<float*>(result.c)[at] + value : value;
}

// Stores the sums of a row in `column` (even) and column + 1. Drops elements outside the result.
__device__ __forceinline__ void store_pair(const GemmResult& result, int row, int column, float first, float second) {
  if (row >= result.m || column >= result.n) return;
  first = add_bias(result, first, column);
  if (column + 1 >= result.n) return store_one(result, row, column, first);
  second = add_bias(result, second, column + 1);
  if (!result.pairs) {
    store_one(result, row, column, first);
    store_one(result, row, column + 1, second);
    return;
  }
  const std::size_t at = static_cast<std::size_t>(row) * result.ldc + column;
  if (result.bf16) {
    *reinterpret_cast<unsigned*>(static_cast<Bf16*>(result.c) + at) = pack_bf16(first, second);
  } else {
    float2* const c = reinterpret_cast<float2*>(static_cast<float*>(result.c) + at);
    *c = result.accumulate ? make_float2(c->x + first, c->y + second) : make_float2(first, second);
  }
}

enum class GemmEpilogue {
  sum,
  swiglu,  // b has the rows of two products, gate above up
};

// How a kernel stores its tile. Each mode is compiled separately, because branches around each pair of sums would make
// the code of a tile six times as long. All but `any` need a result without bias in which pairs may be stored at once.
enum class GemmStore {
  any,
  bf16,
  fp32,  // also partial sums
  fp32_accumulated,
};

// Returns the most specialized mode that can store a result.
inline GemmStore store_of(const GemmResult& result) {
  if (result.bias || !result.pairs || result.n % 2 != 0) return GemmStore::any;
  if (result.bf16) return GemmStore::bf16;
  return result.accumulate ? GemmStore::fp32_accumulated : GemmStore::fp32;
}

template <GemmStore store>
__device__ __forceinline__ void store_sums(const GemmResult& result, int row, int column, float first, float second) {
  if constexpr (store == GemmStore::any) {
    store_pair(result, row, column, first, second);
  } else if (row < result.m && column < result.n) {
    const std::size_t at = static_cast<std::size_t>(row) * result.ldc + column;
    if constexpr (store == GemmStore::bf16)
      *reinterpret_cast<unsigned*>(static_cast<Bf16*>(result.c) + at) = pack_bf16(first, second);
    else
      *reinterpret_cast<float2*>(static_cast<float*>(result.c) + at) = make_float2(first, second);
  }
}

struct GemmArguments {
  const Bf16* a;
  const Bf16* b;
  int lda, ldb;
  int k;
  int k_length;     // of a block's part; k without a split
  float* partials;  // [split][m][n rounded up to even]; null without a split
  GemmResult result;
};

struct TilePosition {
  int m, n;
};

// Returns the tile of a block. Blocks that run at the same time compute adjacent tiles, in groups of eight rows, so
// that they share operands in the L2 cache.
__device__ __forceinline__ TilePosition tile_position(int index, int tiles_m, int tiles_n) {
  constexpr int kGroup = 8;
  const int group = index / (kGroup * tiles_n), within = index % (kGroup * tiles_n);
  const int rows = min(kGroup, tiles_m - group * kGroup);
  return {group * kGroup + within % rows, within / rows};
}

// Maps a row of b's tile to a row of b. Half of each warp's rows are gate and half up, for the same columns, so that a
// thread has both sums of an element.
template <int WarpN>
__device__ __forceinline__ int swiglu_row(int row, int first_column, int columns) {
  constexpr int half = WarpN / 2;
  const int column = first_column + row / WarpN * half + row % half;
  const bool up = row % WarpN >= half;
  return column < columns ? column + (up ? columns : 0) : 2 * columns;
}

// The sums of a warp, and the fragments that it multiplies.
template <class Shape>
struct WarpTile {
  static constexpr int kFragmentsM = Shape::kWarpM / 16, kFragmentsN = Shape::kWarpN / 8;

  float sum[kFragmentsM][kFragmentsN][4];
  unsigned a[2][kFragmentsM][4], b[2][kFragmentsN / 2][4];
  int row, column;  // first row and column of this warp in the block's tile

  __device__ __forceinline__ WarpTile() {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    row = warp / Shape::kWarpsN * Shape::kWarpM;
    column = warp % Shape::kWarpsN * Shape::kWarpN;
#pragma unroll
    for (auto& i : sum)
#pragma unroll
      for (auto& j : i)
#pragma unroll
        for (float& element : j) element = 0;
  }

  // Loads a set of fragments. There are two sets, so that the next step's loads overlap with this step's products.
  template <class A, class B>
  __device__ __forceinline__ void load(int set, const Bf16* stage, int step) {
#pragma unroll
    for (int i = 0; i < kFragmentsM; ++i) A::load_a(a[set][i], stage, row + i * 16, step);
#pragma unroll
    for (int j = 0; j < kFragmentsN / 2; ++j)
      B::load_b(b[set][j], stage + Shape::kM * Shape::kK, column + j * 16, step);
  }

  __device__ __forceinline__ void multiply(int set) {
#pragma unroll
    for (int i = 0; i < kFragmentsM; ++i)
#pragma unroll
      for (int j = 0; j < kFragmentsN; ++j) {
        const unsigned (&both)[4] = b[set][j / 2];
        const unsigned fragment[2] = {both[j % 2 * 2], both[j % 2 * 2 + 1]};
        mma_m16n8k16(sum[i][j], a[set][i], fragment);
      }
  }

  // Adds the sums to c. Loads 16 rows of c at once, because the compiler doesn't move loads of c before stores to it.
  __device__ __forceinline__ void accumulate(const GemmResult& result, int first_row, int first_column) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    float* const c = static_cast<float*>(result.c);
#pragma unroll
    for (int i = 0; i < kFragmentsM; ++i) {
      float2 before[2][kFragmentsN];
      const auto for_each = [&](auto use) {
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
          for (int j = 0; j < kFragmentsN; ++j) {
            const int r = first_row + i * 16 + half * 8 + lane / 4, column = first_column + j * 8;
            if (r < result.m && column < result.n)
              use(reinterpret_cast<float2*>(c + static_cast<std::size_t>(r) * result.ldc + column), half, j);
          }
      };
      for_each([&](const float2* at, int half, int j) { before[half][j] = *at; });
      for_each([&](float2* at, int half, int j) {
        *at = make_float2(before[half][j].x + (sum[i][j][half * 2] + 0.0f),
                          before[half][j].y + (sum[i][j][half * 2 + 1] + 0.0f));
      });
    }
  }

  // Calls use(row, i, j, first) for each pair of the thread's sums in the fragments j < FragmentsN. The pair is
  // sum[i][j][first] and sum[i][j][first + 1].
  template <int FragmentsN, class Use>
  static __device__ __forceinline__ void for_each_pair(int first_row, Use use) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < kFragmentsM; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int j = 0; j < FragmentsN; ++j) use(first_row + i * 16 + half * 8 + lane / 4, i, j, half * 2);
  }
};

// c = op(a) op(b), or swiglu of it. One block computes one tile of c, or a part of its sum if k is split. Grid: (tiles,
// splits). An element is one chain of mma.m16n8k16 over ascending k in every shape, so the choice of a shape changes no
// bit.
template <class Shape, GemmLayout layout, GemmEpilogue epilogue, GemmStore store>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kResidentBlocks) gemm_kernel(const GemmArguments p) {
  using A = Operand<layout != GemmLayout::tn, Shape::kM, Shape::kK, Shape::kThreads>;
  using B = Operand<layout == GemmLayout::nt, Shape::kN, Shape::kK, Shape::kThreads>;
  STARPO_DYNAMIC_SHARED(Bf16, shared);

  const GemmResult& result = p.result;
  constexpr int tile_columns = epilogue == GemmEpilogue::swiglu ? Shape::kN / 2 : Shape::kN;
  const TilePosition tile = tile_position(static_cast<int>(blockIdx.x), (result.m + Shape::kM - 1) / Shape::kM,
                                          (result.n + tile_columns - 1) / tile_columns);
  const int first_row = tile.m * Shape::kM, first_column = tile.n * tile_columns;
  const int k_begin = static_cast<int>(blockIdx.y) * p.k_length, k_end = min(p.k, k_begin + p.k_length);
  const int tiles = (k_end - k_begin + Shape::kK - 1) / Shape::kK;

  const auto stage = [&](int index) { return shared + index % Shape::kStages * Shape::kStageElements; };
  // Past the last tile, copies zeros, which are not used.
  const auto copy = [&](int index) {
    const int k = k_begin + index * Shape::kK;
    Bf16* const a_tile = stage(index);
    Bf16* const b_tile = a_tile + Shape::kM * Shape::kK;
    A::copy(a_tile, p.a, p.lda, first_row, result.m, k, k_end, [&](int row) { return first_row + row; });
    if constexpr (epilogue == GemmEpilogue::swiglu)
      B::copy(b_tile, p.b, p.ldb, 0, 2 * result.n, k, k_end,
              [&](int row) { return swiglu_row<Shape::kWarpN>(row, first_column, result.n); });
    else
      B::copy(b_tile, p.b, p.ldb, first_column, result.n, k, k_end, [&](int row) { return first_column + row; });
    cp_async_commit();
  };

  // Before the last step of a tile, all its fragments have been loaded. After the barrier in that step, all threads can
  // read the next tile, and later copies may overwrite this tile.
  constexpr int steps = Shape::kK / 16;
  static_assert(steps % 2 == 0);
  WarpTile<Shape> warp;
  for (int i = 0; i < Shape::kStages - 1; ++i) copy(i);
  cp_async_wait<Shape::kStages - 2>();
  __syncthreads();
  warp.template load<A, B>(0, stage(0), 0);
  for (int i = 0; i < tiles; ++i) {
    copy(i + Shape::kStages - 1);
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      if (step + 1 < steps) {
        warp.template load<A, B>((step + 1) % 2, stage(i), step + 1);
      } else {
        cp_async_wait<Shape::kStages - 2>();
        __syncthreads();
        warp.template load<A, B>(0, stage(i + 1), 0);
      }
      warp.multiply(step % 2);
    }
  }
  cp_async_wait<0>();

  // + 0.0f normalizes -0: a sum of zeros is -0 or +0, depending on how far a shape's steps reach past the end of k.
  const int pair = static_cast<int>(threadIdx.x) % 4 * 2;
  constexpr int fragments = WarpTile<Shape>::kFragmentsN;
  if constexpr (epilogue == GemmEpilogue::swiglu) {
    const int column = first_column + warp.column / 2 + pair;
    const auto rounded = [&](int i, int j, int first) {
      return pack_bf16(warp.sum[i][j][first] + 0.0f, warp.sum[i][j][first + 1] + 0.0f);
    };
    WarpTile<Shape>::template for_each_pair<fragments / 2>(first_row + warp.row, [&](int row, int i, int j, int first) {
      const unsigned gate = rounded(i, j, first), up = rounded(i, j + fragments / 2, first);
      store_sums<store>(result, row, column + j * 8, swiglu_of(unpack_low(gate), unpack_low(up)),
                        swiglu_of(unpack_high(gate), unpack_high(up)));
    });
  } else {
    const GemmResult target = p.partials ? partial_result(result, p.partials, static_cast<int>(blockIdx.y)) : result;
    const int column = first_column + warp.column + pair;
    if constexpr (store == GemmStore::fp32_accumulated)
      warp.accumulate(target, first_row + warp.row, column);
    else
      WarpTile<Shape>::template for_each_pair<fragments>(first_row + warp.row, [&](int row, int i, int j, int first) {
        store_sums<store>(target, row, column + j * 8, warp.sum[i][j][first] + 0.0f, warp.sum[i][j][first + 1] + 0.0f);
      });
  }
}

// Tile m, n, k; warps along m, n; stages; blocks per multiprocessor.
using LargeShape = GemmShape<128, 128, 32, 2, 2, 4, 2>;
using MediumShape = GemmShape<64, 64, 64, 2, 2, 4, 3>;
using NarrowShape = GemmShape<64, 32, 64, 2, 2, 4, 4>;
using SmallShape = GemmShape<32, 32, 64, 2, 2, 5, 5>;
using RowShape = GemmShape<16, 64, 64, 1, 4, 5, 4>;

template <class Shape, GemmLayout layout, GemmEpilogue epilogue, GemmStore store>
void launch_gemm(Stream& stream, const GemmArguments& arguments, int split) {
  constexpr int tile_columns = epilogue == GemmEpilogue::swiglu ? Shape::kN / 2 : Shape::kN;
  const unsigned tiles_m = static_cast<unsigned>((arguments.result.m + Shape::kM - 1) / Shape::kM);
  const unsigned tiles_n = static_cast<unsigned>((arguments.result.n + tile_columns - 1) / tile_columns);
  STARPO_LAUNCH(stream, dim3(tiles_m * tiles_n, static_cast<unsigned>(split)), Shape::kThreads, Shape::kSharedBytes,
                (gemm_kernel<Shape, layout, epilogue, store>), arguments);
}

// Each is in its own file, so that they compile in parallel. GemmStore::any has only the medium tile: of the engine's
// results, only logits of an odd vocabulary need it, and all tiles compute the same bits. nt and nn store accumulated
// results with it.
void launch_gemm_nt(Stream& stream, GemmTile tile, GemmStore store, const GemmArguments& arguments, int split);
void launch_gemm_nn(Stream& stream, GemmTile tile, GemmStore store, const GemmArguments& arguments, int split);
void launch_gemm_tn(Stream& stream, GemmTile tile, GemmStore store, const GemmArguments& arguments, int split);
void launch_gemm_swiglu(Stream& stream, GemmTile tile, GemmStore store, const GemmArguments& arguments);

}  // namespace starpo::cuda
