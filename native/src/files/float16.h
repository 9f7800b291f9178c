#pragma once

#include <cstdint>

namespace starpo {

// The bits of the nearest IEEE 754 half precision number, ties to even; too large ones become infinite.
std::uint16_t to_float16(float value);

// The number of a half precision number's bits: exact, since every one of them is a single precision number too.
float from_float16(std::uint16_t bits);

}  // namespace starpo
