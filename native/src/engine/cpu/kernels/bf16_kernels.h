#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cpu/kernels/kernels.h"

namespace starpo {

// bfloat16: the upper half of a float.
using Bf16 = std::uint16_t;

// Round to nearest, ties to even. NaN stays NaN. These functions are static for the reason in kernels.h.
static inline Bf16 to_bf16(float x) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &x, 4);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<Bf16>(bits >> 16 | 0x40u);
  return static_cast<Bf16>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
static inline float from_bf16(Bf16 x) {
  const std::uint32_t bits = static_cast<std::uint32_t>(x) << 16;
  float value;
  __builtin_memcpy(&value, &bits, 4);
  return value;
}

// The inner dimension is padded to a multiple of kBf16Depth: rows of a and columns of packed b are zero there.
inline constexpr int kBf16Depth = 32;
// The row count of buffer `a` is padded to a multiple of kBf16Rows. Padding rows are read, but their values don't
// affect the result.
inline constexpr int kBf16Rows = 32;
static constexpr int padded_depth(int depth) { return (depth + kBf16Depth - 1) / kBf16Depth * kBf16Depth; }
static constexpr std::size_t bf16_rows_size(int rows, int depth) {
  return static_cast<std::size_t>((rows + kBf16Rows - 1) / kBf16Rows * kBf16Rows) *
         static_cast<std::size_t>(padded_depth(depth));
}
static constexpr std::size_t packed_bf16_size(int depth, int columns) {
  return panels(columns) * kPanel * static_cast<std::size_t>(padded_depth(depth));
}

// Products of bfloat16 numbers, summed in float. A row's result doesn't depend on other rows, but it depends on the
// instruction set.
struct Bf16Kernels {
  // a [rows, padded_depth(depth)] = x [rows, depth], rounded.
  void (*round_rows)(int rows, int depth, const float* x, std::ptrdiff_t stride, Bf16* a);
  // c [rows, columns] = start + a b. b is packed in pairs of depths: [panels][padded_depth / 2][32][2].
  // Kernels::multiply documents `start`.
  void (*multiply)(int rows, int columns, int depth, const Bf16* a, const Bf16* packed_b, const float* start,
                   std::ptrdiff_t start_stride, float* c, std::ptrdiff_t c_stride);
};

// Returns the AMX kernels if supported, otherwise the AVX512-BF16 kernels. Returns null if the CPU, or the selected
// instruction set, has neither.
const Bf16Kernels* bf16_kernels();
const char* bf16_kernels_name();  // "amx_bf16", "avx512_bf16" or "none"

namespace avx512bf16 {
bool supported();
const Bf16Kernels& kernels();
}  // namespace avx512bf16
namespace amx {
// The first call requests permission for the tiles from the system.
bool supported();
const Bf16Kernels& kernels();
}  // namespace amx

}  // namespace starpo
