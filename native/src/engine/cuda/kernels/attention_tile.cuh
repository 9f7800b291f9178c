#pragma once

#include "engine/cuda/portable/bf16.h"
#include "engine/cuda/portable/cuda.h"
#include "engine/cuda/portable/tensor_core.h"
#include "engine/cuda/portable/warp.h"

// Rows of a head in shared memory, and the operands of mma.m16n8k16 taken from them. Lane l of a warp has the elements at row l / 4 and columns
// 2 * (l % 4) and one more of each 8x8 matrix; of an accumulator [4]: rows l / 4, l / 4 and then l / 4 + 8 twice.
namespace starpo::cuda {

// Rows of bf16. The 16-byte chunks of eight neighbouring rows at one column lie in different banks, which is what ldmatrix reads at a time.
template <int HeadDim>
struct SharedRows {
  static constexpr int kChunks = HeadDim / 8;

  static __device__ __forceinline__ int offset(int row, int chunk) {
    constexpr int kMask = kChunks < 8 ? kChunks - 1 : 7;
    constexpr int kRowsOfAllBanks = kChunks < 8 ? 8 / kChunks : 1;
    return row * HeadDim + (chunk ^ (row / kRowsOfAllBanks & kMask)) * 8;
  }

  // Starts copying `Rows` rows; those from `valid` on become zeros. `row(i)` gives the address of row i.
  template <int Rows, int Threads, class Address>
  static __device__ __forceinline__ void copy(Bf16* tile, int valid, Address row) {
    constexpr int kCopies = Rows * kChunks;
    [[maybe_unused]] constexpr int kUnrolled = kCopies <= 4 * Threads ? 4 : 2;  // many addresses at a time cost many registers
#pragma unroll kUnrolled
    for (int first = 0; first < kCopies; first += Threads) {
      const int copy = first + static_cast<int>(threadIdx.x);
      if (kCopies % Threads != 0 && copy >= kCopies) break;
      const int i = copy / kChunks, chunk = copy % kChunks;
      cp_async_16(tile + offset(i, chunk), row(i < valid ? i : 0) + chunk * 8, i < valid);
    }
  }

  // The same for rows `stride` numbers apart, which cost fewer instructions.
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

  // Right operands that multiply by the rows' transpose, for 16 rows (two tiles of 8 columns of the result), inner columns 16 * step and on.
  static __device__ __forceinline__ void load_transposed(unsigned (&b)[2][2], const Bf16* tile, int row, int step) {
    const int lane = lane_index();
    unsigned loaded[4];
    ldmatrix_x4(loaded, tile + offset(row + lane % 8 + lane / 16 * 8, 2 * step + lane / 8 % 2));
    split(b, loaded);
  }

  // Right operands that multiply by the rows themselves: 16 rows from `row` inside, columns 16 * step and on of the result (two tiles of 8).
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
  x += __shfl_xor_sync(every_lane, x, 1);
  return x + __shfl_xor_sync(every_lane, x, 2);
}
__device__ __forceinline__ float quad_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(every_lane, x, 1));
  return fmaxf(x, __shfl_xor_sync(every_lane, x, 2));
}

}  // namespace starpo::cuda
