#include "engine/cuda/emulated/tensor_core.h"

#include <cstdint>
#include <cstring>

#include "engine/cuda/emulated/thread.h"
#include "engine/cuda/portable/bf16.h"

namespace starpo::cuda::emulated {
namespace {

struct Product {
  float* d;
  const unsigned *a, *b;
};

float low_half(unsigned pair) { return to_float(Bf16{static_cast<std::uint16_t>(pair)}); }
float high_half(unsigned pair) { return to_float(Bf16{static_cast<std::uint16_t>(pair >> 16)}); }

// GCC vectorizes the product of tiles only if its types are vectors.
using Row = float __attribute__((vector_size(8 * sizeof(float))));

void multiply(WarpOperands operands) {
  float a[16][16], b[16][8], d[16][8];
  for (int i = 0; i < kWarpSize; ++i) {
    const Product& lane = *static_cast<Product*>(operands[i]);
    const int group = i / 4, column = 2 * (i % 4);
    const auto set_pair = [](float* pair, unsigned packed) {
      pair[0] = low_half(packed);
      pair[1] = high_half(packed);
    };
    set_pair(&a[group][column], lane.a[0]);
    set_pair(&a[group + 8][column], lane.a[1]);
    set_pair(&a[group][column + 8], lane.a[2]);
    set_pair(&a[group + 8][column + 8], lane.a[3]);
    for (int half = 0; half < 2; ++half) {
      b[column + half * 8][group] = low_half(lane.b[half]);
      b[column + half * 8 + 1][group] = high_half(lane.b[half]);
      std::memcpy(&d[group + half * 8][column], lane.d + 2 * half, 2 * sizeof(float));
    }
  }
  Row b_rows[16];
  std::memcpy(b_rows, b, sizeof b);
  for (int row = 0; row < 16; ++row) {
    Row sums;
    std::memcpy(&sums, d[row], sizeof sums);
    for (int k = 0; k < 16; ++k) sums += a[row][k] * b_rows[k];
    std::memcpy(d[row], &sums, sizeof sums);
  }
  for (int i = 0; i < kWarpSize; ++i)
    for (int half = 0; half < 2; ++half)
      std::memcpy(static_cast<Product*>(operands[i])->d + 2 * half, &d[i / 4 + half * 8][2 * (i % 4)],
                  2 * sizeof(float));
}

struct Load {
  unsigned* registers;
  const void* row;
  bool transposed;
};

void load(WarpOperands operands) {
  const auto& lane_of = [&](int lane) -> const Load& { return *static_cast<Load*>(operands[lane]); };
  for (int matrix = 0; matrix < 4; ++matrix) {
    std::uint16_t elements[8][8];
    for (int row = 0; row < 8; ++row) std::memcpy(elements[row], lane_of(matrix * 8 + row).row, sizeof elements[row]);
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const int group = lane / 4, pair = 2 * (lane % 4);
      const bool transposed = lane_of(lane).transposed;
      const unsigned low = transposed ? elements[pair][group] : elements[group][pair];
      const unsigned high = transposed ? elements[pair + 1][group] : elements[group][pair + 1];
      lane_of(lane).registers[matrix] = low | high << 16;
    }
  }
}

}  // namespace

void mma_m16n8k16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  Product operand{d, a, b};
  synchronize_warp("mma_m16n8k16", &operand, multiply);
}

void load_matrices(const char* operation, unsigned (&registers)[4], const void* row, bool transposed) {
  if (reinterpret_cast<std::uintptr_t>(row) % 16 != 0)
    fail(std::string(operation) + " of a row whose address is not a multiple of 16");
  Load operand{registers, row, transposed};
  synchronize_warp(operation, &operand, load);
}

}  // namespace starpo::cuda::emulated
