#include "files/float16.h"

#include <bit>

namespace starpo {

std::uint16_t to_float16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;   // NaN
  if (magnitude >= 0x477ff000) return sign | 0x7c00;  // rounds to more than 65504
  // Shifts right by `shift`, rounding to the nearest, ties to even.
  const auto rounded = [](std::uint32_t significand, int shift) {
    const std::uint32_t half = 1u << (shift - 1);
    return (significand + half - 1 + (significand >> shift & 1)) >> shift;
  };
  if (magnitude >= 0x38800000) return static_cast<std::uint16_t>(sign | rounded(magnitude - 0x38000000, 13));
  if (magnitude < 0x33000000) return sign;  // below half the smallest subnormal
  const int exponent = static_cast<int>(magnitude >> 23);
  return static_cast<std::uint16_t>(sign | rounded((magnitude & 0x7fffff) | 0x800000, 126 - exponent));
}

float from_float16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16, exponent = bits & 0x7c00u, fraction = bits & 0x3ffu;
  if (exponent == 0)
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(fraction) * 0x1p-24f) |
                                sign);  // 0 and subnormals
  if (exponent == 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  return std::bit_cast<float>(sign | (((exponent | fraction) << 13) + 0x38000000));  // the biases differ by 127 - 15
}

}  // namespace starpo
