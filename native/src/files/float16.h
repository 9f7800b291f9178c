#pragma once

#include <cstdint>

namespace starpo {

// Returns the bits of the nearest IEEE 754 half-precision number, ties to even. Values above the range become infinite.
std::uint16_t to_float16(float value);

// Returns the value of a half-precision number. The conversion is exact.
float from_float16(std::uint16_t bits);

}  // namespace starpo
