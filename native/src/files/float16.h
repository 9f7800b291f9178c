#pragma once

#include <cstdint>

namespace starpo {

// The bits of the nearest IEEE 754 half precision number, ties to even; too large ones become infinite.
std::uint16_t to_float16(float value);

}  // namespace starpo
