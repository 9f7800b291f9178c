#include <immintrin.h>

#include "engine/cpu/kernels/bf16_kernels.h"

// The headers of g++ 12 cause this warning for every intrinsic that starts from an undefined register.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"

namespace starpo::avx512bf16 {
namespace {

__mmask16 first(int n) { return n >= 16 ? 0xffff : n <= 0 ? 0 : static_cast<__mmask16>((1u << n) - 1u); }

struct Tile {
  int pairs, columns;
  const Bf16* a;
  std::ptrdiff_t a_stride;
  const Bf16* b;
  const float* start;
  std::ptrdiff_t start_stride;
  float* c;
  std::ptrdiff_t c_stride;
};

template <int Rows>
void multiply_tile(const Tile& t) {
  const __mmask16 mask[2] = {first(t.columns), first(t.columns - 16)};
  __m512 sum[Rows][2];
#pragma GCC unroll 12
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v)
      sum[r][v] = t.start == nullptr ? _mm512_setzero_ps()
                                     : _mm512_maskz_loadu_ps(mask[v], t.start + r * t.start_stride + 16 * v);
  for (int k = 0; k < t.pairs; ++k) {
    const auto column0 = (__m512bh)_mm512_loadu_si512(t.b + k * 2 * kPanel),
               column1 = (__m512bh)_mm512_loadu_si512(t.b + k * 2 * kPanel + 32);
#pragma GCC unroll 12
    for (int r = 0; r < Rows; ++r) {
      int pair;
      __builtin_memcpy(&pair, t.a + r * t.a_stride + 2 * k, 4);
      const auto x = (__m512bh)_mm512_set1_epi32(pair);
      sum[r][0] = _mm512_dpbf16_ps(sum[r][0], x, column0);
      sum[r][1] = _mm512_dpbf16_ps(sum[r][1], x, column1);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) _mm512_mask_storeu_ps(t.c + r * t.c_stride + 16 * v, mask[v], sum[r][v]);
}

void multiply(int rows, int columns, int depth, const Bf16* a, const Bf16* packed_b, const float* start,
              std::ptrdiff_t start_stride, float* c, std::ptrdiff_t c_stride) {
  const std::ptrdiff_t a_stride = padded_depth(depth);
  for (int j = 0; j < columns; j += kPanel, packed_b += a_stride * kPanel)
    for (int i = 0; i < rows;) {
      const Tile tile{static_cast<int>(a_stride) / 2,
                      columns - j,
                      a + i * a_stride,
                      a_stride,
                      packed_b,
                      start == nullptr ? nullptr : start + i * start_stride + j,
                      start_stride,
                      c + i * c_stride + j,
                      c_stride};
      const int remaining = rows - i;
      if (remaining >= 12)
        multiply_tile<12>(tile), i += 12;
      else if (remaining >= 4)
        multiply_tile<4>(tile), i += 4;
      else
        multiply_tile<1>(tile), i += 1;
    }
}

void round_rows(int rows, int depth, const float* x, std::ptrdiff_t stride, Bf16* a) {
  const int padded = padded_depth(depth);
  for (int r = 0; r < rows; ++r, x += stride, a += padded)
    for (int i = 0; i < padded; i += 16) {
      const __m256bh rounded = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(first(depth - i), x + i));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(a + i), (__m256i)rounded);
    }
}

}  // namespace

bool supported() { return __builtin_cpu_supports("avx512bf16"); }

const Bf16Kernels& kernels() {
  static constexpr Bf16Kernels table{.round_rows = round_rows, .multiply = multiply};
  return table;
}

}  // namespace starpo::avx512bf16
