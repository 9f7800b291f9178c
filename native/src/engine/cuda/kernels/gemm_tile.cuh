#pragma once

#include "engine/cuda/portable/bf16.h"
#include "engine/cuda/portable/cuda.h"
#include "engine/cuda/portable/tensor_core.h"

namespace starpo::cuda {

// A tile's size and how the warps of a block share it.
template <int TileM, int TileN, int TileK, int WarpsM, int WarpsN, int Stages, int Blocks>
struct GemmShape {
  static constexpr int m = TileM, n = TileN, k = TileK;
  static constexpr int warps_n = WarpsN;
  static constexpr int threads = 32 * WarpsM * WarpsN;
  static constexpr int stages = Stages;           // tiles of a and b on their way or in use
  static constexpr int resident_blocks = Blocks;  // the registers are to suffice for, on one multiprocessor
  static constexpr int warp_m = TileM / WarpsM, warp_n = TileN / WarpsN;
  static constexpr int stage_elements = (TileM + TileN) * TileK;
  static constexpr int shared_bytes = Stages * stage_elements * static_cast<int>(sizeof(Bf16));
  static_assert(warp_m % 16 == 0 && warp_n % 16 == 0 && TileK % 16 == 0);
};

inline constexpr int kChunk = 8;  // bf16 numbers in the 16 bytes that one thread copies, and one lane gives to ldmatrix

// A tile in shared memory, [Rows][Columns]. ldmatrix reads the same chunk of eight rows at once; exchanging a row's chunks by its index
// puts those eight into different banks, without padding.
template <int Rows, int Columns>
struct SharedTile {
  static constexpr int chunks = Columns / kChunk;
  static constexpr int rows_per_line = chunks >= 8 ? 1 : 8 / chunks;  // a line: 128 bytes, every bank once
  static constexpr int exchanged = chunks >= 8 ? 8 : chunks;

  static __device__ __forceinline__ int offset(int row, int chunk) {
    return (row * chunks + (chunk ^ (row / rows_per_line % exchanged))) * kChunk;
  }
};

// Starts the copy of a tile; what lies outside [rows, columns] becomes zero. row_of maps the tile's rows to the source's.
template <int Rows, int Columns, int Threads, class RowOf>
__device__ __forceinline__ void copy_tile(Bf16* tile, const Bf16* source, int ld, int rows, int first_column, int columns, RowOf row_of) {
  using Layout = SharedTile<Rows, Columns>;
  constexpr int total = Rows * Layout::chunks;
  static_assert(total % Threads == 0);
#pragma unroll
  for (int i = 0; i < total / Threads; ++i) {
    const int index = i * Threads + static_cast<int>(threadIdx.x);
    const int row = index / Layout::chunks, chunk = index % Layout::chunks;
    const int source_row = row_of(row), source_column = first_column + chunk * kChunk;
    // No branch: the address outside isn't read.
    const bool valid = (source_row < rows) & (source_column < columns);
    cp_async_16(tile + Layout::offset(row, chunk), source + static_cast<std::ptrdiff_t>(source_row) * ld + source_column, valid);
  }
}

// One operand's tile for a step along k. Along: the inner index is the row's ([extent][k]) in memory and in the tile; otherwise [k][extent].
template <bool Along, int Extent, int TileK, int Threads>
struct Operand {
  using Layout = SharedTile<Along ? Extent : TileK, Along ? TileK : Extent>;

  // row_of: from the tile's index into the operand's; k_end: where the block's sum stops.
  template <class RowOf>
  static __device__ __forceinline__ void copy(Bf16* tile, const Bf16* source, int ld, int first, int extent, int k, int k_end, RowOf row_of) {
    if constexpr (Along)
      copy_tile<Extent, TileK, Threads>(tile, source, ld, extent, k, k_end, row_of);
    else
      copy_tile<TileK, Extent, Threads>(tile, source, ld, k_end, first, extent, [k](int row) { return k + row; });
  }

  // a's fragment of mma.m16n8k16: rows [row, row + 16), k [step * 16, + 16).
  static __device__ __forceinline__ void load_a(unsigned (&fragment)[4], const Bf16* tile, int row, int step) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if constexpr (Along)
      ldmatrix_x4(fragment, tile + Layout::offset(row + lane % 16, step * 2 + lane / 16));
    else
      ldmatrix_x4_trans(fragment, tile + Layout::offset(step * 16 + lane % 8 + lane / 16 * 8, row / kChunk + lane / 8 % 2));
  }

  // b's fragments of two products side by side: columns [column, + 8) in fragment[0..1], [column + 8, + 8) in fragment[2..3].
  static __device__ __forceinline__ void load_b(unsigned (&fragment)[4], const Bf16* tile, int column, int step) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if constexpr (Along)
      ldmatrix_x4(fragment, tile + Layout::offset(column + lane % 8 + lane / 16 * 8, step * 2 + lane / 8 % 2));
    else
      ldmatrix_x4_trans(fragment, tile + Layout::offset(step * 16 + lane % 16, column / kChunk + lane / 16));
  }
};

}  // namespace starpo::cuda
