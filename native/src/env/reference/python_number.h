#pragma once

#include <string>

namespace starpo {

// Formats a number like Python's str(): the shortest digits that round-trip, ".0" for whole floats, and an exponent
// below 1e-4 and from 1e16. is_integer: format as a Python int.
std::string format_python_number(double value, bool is_integer);

}  // namespace starpo
