#include "base/reproducible_math.h"

#include <bit>
#include <cstdint>
#include <limits>

namespace starpo {
namespace {

constexpr double kLn2High = 0x1.62e42fee00000p-1, kLn2Low = 0x1.a39ef35793c76p-33;
// Pi / 2 in three parts; the first two have few enough bits that multiples of them are exact.
constexpr double kHalfPi1 = 0x1.921fb54400000p+0, kHalfPi2 = 0x1.0b4611a600000p-34, kHalfPi3 = 0x1.3198a2e037073p-69;

double round_to_integer(double x) {
  constexpr double shift = 0x1.8p52;
  return (x + shift) - shift;
}

// Taylor series for |x| <= pi / 4.
double sin_series(double x) {
  const double square = x * x;
  double sum = 0;
  for (int n = 21; n >= 3; n -= 2) sum = (1 + sum) * (-square / (n * (n - 1)));
  return x + x * sum;
}

double cos_series(double x) {
  const double square = x * x;
  double sum = 0;
  for (int n = 22; n >= 2; n -= 2) sum = (1 + sum) * (-square / (n * (n - 1)));
  return 1 + sum;
}

double sin_of_quadrant(double x, int shift) {
  const double n = round_to_integer(x * 0x1.45f306dc9c883p-1);
  const double r = ((x - n * kHalfPi1) - n * kHalfPi2) - n * kHalfPi3;
  switch ((static_cast<std::int64_t>(n) + shift) & 3) {
    case 0: return sin_series(r);
    case 1: return cos_series(r);
    case 2: return -sin_series(r);
    default: return -cos_series(r);
  }
}

}  // namespace

double reproducible_log(double x) {
  if (!(x > 0)) return x == 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (x == std::numeric_limits<double>::infinity()) return x;
  int exponent = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    exponent = -54;
  }
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  exponent += static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000fffffffffffffull) | 0x3ff0000000000000ull);
  if (m > 0x1.6a09e667f3bcdp+0) {
    m *= 0.5;
    ++exponent;
  }
  // log m = 2 artanh s, |s| < 0.172
  const double s = (m - 1) / (m + 1), square = s * s;
  double sum = 0;
  for (int n = 23; n >= 3; n -= 2) sum = square * (1.0 / n + sum);
  return exponent * kLn2High + (2 * s + (2 * s * sum + exponent * kLn2Low));
}

double reproducible_exp(double x) {
  if (x != x) return x;
  if (x > 709.7) return std::numeric_limits<double>::infinity();
  if (x < -708) return 0;
  const double n = round_to_integer(x * 0x1.71547652b82fep+0);
  const double r = (x - n * kLn2High) - n * kLn2Low;
  double sum = 1;
  for (int k = 18; k >= 1; --k) sum = 1 + sum * (r / k);
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<std::int64_t>(n) + 1023) << 52);
}

double reproducible_sin(double x) { return sin_of_quadrant(x, 0); }
double reproducible_cos(double x) { return sin_of_quadrant(x, 1); }

}  // namespace starpo
