#pragma once

#include <immintrin.h>

#include <cstdint>

// The headers of g++ 12 cause this warning for every intrinsic that starts from an undefined register.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"

// Sixteen floats in a 512-bit register. vec16_avx2.h and vec16_scalar.h have the same functions, which compute the same
// bits.
namespace starpo::avx512 {

inline constexpr int kTileRows = 12, kTileVecs = 2, kRowGroup = 2;

struct Vec {
  __m512 v;
};

inline __mmask16 first(int n) { return static_cast<__mmask16>((1u << n) - 1u); }

inline Vec zero() { return {_mm512_setzero_ps()}; }
inline Vec broadcast(float x) { return {_mm512_set1_ps(x)}; }
inline Vec load(const float* p) { return {_mm512_loadu_ps(p)}; }
// Loads sixteen bfloat16 numbers.
inline Vec load(const std::uint16_t* p) {
  return {_mm512_castsi512_ps(
      _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))), 16))};
}
inline Vec load_n(const float* p, int n) { return {_mm512_maskz_loadu_ps(first(n), p)}; }
inline void store(float* p, Vec a) { _mm512_storeu_ps(p, a.v); }
inline void store_n(float* p, Vec a, int n) { _mm512_mask_storeu_ps(p, first(n), a.v); }
inline Vec load_flags(const std::uint8_t* p) {
  return {_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))))};
}

inline Vec add(Vec a, Vec b) { return {_mm512_add_ps(a.v, b.v)}; }
inline Vec sub(Vec a, Vec b) { return {_mm512_sub_ps(a.v, b.v)}; }
inline Vec mul(Vec a, Vec b) { return {_mm512_mul_ps(a.v, b.v)}; }
inline Vec div(Vec a, Vec b) { return {_mm512_div_ps(a.v, b.v)}; }
inline Vec square_root(Vec a) { return {_mm512_sqrt_ps(a.v)}; }
inline Vec fma(Vec a, Vec b, Vec c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
// Return the second operand if either is NaN.
inline Vec max(Vec a, Vec b) { return {_mm512_max_ps(a.v, b.v)}; }
inline Vec min(Vec a, Vec b) { return {_mm512_min_ps(a.v, b.v)}; }
// Replaces the lanes from n on with `fill`.
inline Vec fill_from(Vec a, int n, Vec fill) { return {_mm512_mask_blend_ps(first(n), fill.v, a.v)}; }
// Returns 2^n for the integer n in the low bits of a float, where adding a large constant has rounded it to (see
// exponential()).
inline Vec power_of_two(Vec a) {
  return {_mm512_castsi512_ps(
      _mm512_add_epi32(_mm512_slli_epi32(_mm512_castps_si512(a.v), 23), _mm512_set1_epi32(0x3f800000)))};
}

inline float reduce_add(Vec a) {
  const __m256 b = _mm256_add_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
  const __m128 c = _mm_add_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
  const __m128 d = _mm_add_ps(c, _mm_movehl_ps(c, c));
  return _mm_cvtss_f32(_mm_add_ss(d, _mm_movehdup_ps(d)));
}
inline float reduce_max(Vec a) { return _mm512_reduce_max_ps(a.v); }

}  // namespace starpo::avx512
