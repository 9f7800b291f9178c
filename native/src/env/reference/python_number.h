#pragma once

#include <string>

namespace starpo {

// A number as Python's str() prints it: the shortest digits that read back as the same double, ".0" on whole ones, an
// exponent below 1e-4 and from 1e16 on. is_integer: a Python int, which has no fraction.
std::string format_python_number(double value, bool is_integer);

}  // namespace starpo
