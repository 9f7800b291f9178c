#pragma once

#include <cstdint>

// Sixteen floats in an array. A fused multiply-add is correctly rounded by definition, so the library's function is
// bit-identical to the hardware's.
namespace starpo::scalar {

inline constexpr int kTileRows = 4, kTileVecs = 1, kRowGroup = 1;

struct Vec {
  float lane[16];
};

template <class F>
inline Vec each(F f) {
  Vec r;
  for (int i = 0; i < 16; ++i) r.lane[i] = f(i);
  return r;
}

inline Vec broadcast(float x) {
  return each([=](int) { return x; });
}
inline Vec zero() { return broadcast(0); }
inline Vec load(const float* p) {
  return each([=](int i) { return p[i]; });
}
inline Vec load(const std::uint16_t* p) {
  return each([=](int i) {
    const std::uint32_t bits = static_cast<std::uint32_t>(p[i]) << 16;
    float value;
    __builtin_memcpy(&value, &bits, 4);
    return value;
  });
}
inline Vec load_n(const float* p, int n) {
  return each([=](int i) { return i < n ? p[i] : 0.0f; });
}
inline void store(float* p, const Vec& a) {
  for (int i = 0; i < 16; ++i) p[i] = a.lane[i];
}
inline void store_n(float* p, const Vec& a, int n) {
  for (int i = 0; i < n && i < 16; ++i) p[i] = a.lane[i];
}
inline Vec load_flags(const std::uint8_t* p) {
  return each([=](int i) { return static_cast<float>(p[i]); });
}

inline Vec add(const Vec& a, const Vec& b) {
  return each([&](int i) { return a.lane[i] + b.lane[i]; });
}
inline Vec sub(const Vec& a, const Vec& b) {
  return each([&](int i) { return a.lane[i] - b.lane[i]; });
}
inline Vec mul(const Vec& a, const Vec& b) {
  return each([&](int i) { return a.lane[i] * b.lane[i]; });
}
inline Vec div(const Vec& a, const Vec& b) {
  return each([&](int i) { return a.lane[i] / b.lane[i]; });
}
inline Vec square_root(const Vec& a) {
  return each([&](int i) { return __builtin_sqrtf(a.lane[i]); });
}
inline Vec fma(const Vec& a, const Vec& b, const Vec& c) {
  return each([&](int i) { return __builtin_fmaf(a.lane[i], b.lane[i], c.lane[i]); });
}
inline Vec max(const Vec& a, const Vec& b) {
  return each([&](int i) { return a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]; });
}
inline Vec min(const Vec& a, const Vec& b) {
  return each([&](int i) { return a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]; });
}
inline Vec fill_from(const Vec& a, int n, const Vec& fill) {
  return each([&](int i) { return i < n ? a.lane[i] : fill.lane[i]; });
}
inline Vec power_of_two(const Vec& a) {
  return each([&](int i) {
    std::uint32_t bits;
    __builtin_memcpy(&bits, &a.lane[i], 4);
    bits = (bits << 23) + 0x3f800000u;
    float power;
    __builtin_memcpy(&power, &bits, 4);
    return power;
  });
}

inline float reduce_add(Vec a) {
  for (int half = 8; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) a.lane[i] = a.lane[i] + a.lane[i + half];
  return a.lane[0];
}
inline float reduce_max(const Vec& a) {
  float m = a.lane[0];
  for (int i = 1; i < 16; ++i) m = m > a.lane[i] ? m : a.lane[i];
  return m;
}

}  // namespace starpo::scalar
