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

void multiply(WarpOperands operands) {
  float a[16][16], b[16][8], d[16][8];
  const auto each_lane = [&](auto visit) {
    for (int lane = 0; lane < kWarpSize; ++lane)
      visit(*static_cast<Product*>(operands[lane]), lane / 4, 2 * (lane % 4));
  };
  each_lane([&](const Product& lane, int group, int column) {
    for (int i = 0; i < 4; ++i) {
      float* const pair = &a[group + i % 2 * 8][column + i / 2 * 8];
      pair[0] = low_half(lane.a[i]);
      pair[1] = high_half(lane.a[i]);
      d[group + i / 2 * 8][column + i % 2] = lane.d[i];
    }
    for (int i = 0; i < 2; ++i) {
      b[column + i * 8][group] = low_half(lane.b[i]);
      b[column + i * 8 + 1][group] = high_half(lane.b[i]);
    }
  });
  for (int k = 0; k < 16; ++k)
    for (int row = 0; row < 16; ++row)
      for (int column = 0; column < 8; ++column) d[row][column] += a[row][k] * b[k][column];
  each_lane([&](const Product& lane, int group, int column) {
    for (int i = 0; i < 4; ++i) lane.d[i] = d[group + i / 2 * 8][column + i % 2];
  });
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
