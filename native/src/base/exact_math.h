#pragma once

#include <bit>
#include <cstdint>

namespace starpo {

// Elementary functions whose bits are the same on every x86-64: libm's differ between versions and processors, and a last bit is enough to
// sample another token. Plain IEEE operations in a fixed order; the build forbids contraction.

// e^x in double, relative error under 1e-15. x is clamped to [-700, 700].
inline double exact_exp(double x) {
  x = x < -700 ? -700 : x > 700 ? 700 : x;
  const double n = static_cast<double>(static_cast<std::int64_t>(x * 1.4426950408889634 + (x < 0 ? -0.5 : 0.5)));
  // ln 2 in two parts: the first has few enough bits that n times it is exact.
  const double r = (x - n * 0x1.62e42fee00000p-1) - n * 0x1.a39ef35793c76p-33;
  double term = 1, sum = 1;
  for (int k = 1; k <= 14; ++k) {
    term *= r / k;
    sum += term;
  }
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<std::int64_t>(n) + 1023) << 52);
}

// cos(x) for x in [0, pi], absolute error under 1e-15.
inline double exact_cos(double x) {
  constexpr double pi = 3.14159265358979323846;
  const bool flip = x > pi / 2;
  const double y = flip ? pi - x : x;
  double term = 1, sum = 1;
  for (int k = 1; k <= 11; ++k) {
    term *= -y * y / ((2 * k - 1) * (2 * k));
    sum += term;
  }
  return flip ? -sum : sum;
}

}  // namespace starpo
