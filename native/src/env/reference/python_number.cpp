#include "env/reference/python_number.h"

#include <charconv>
#include <cmath>

namespace starpo {

std::string format_python_number(double value, bool is_integer) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[512];
  const double size = std::abs(value);
  const bool exponent = !is_integer && size != 0 && (size < 1e-4 || size >= 1e16);
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value,
                                 exponent ? std::chars_format::scientific : std::chars_format::fixed)
                       .ptr;
  std::string text(buffer, end);
  if (is_integer) return text == "-0" ? "0" : text;
  return exponent || text.find('.') != std::string::npos ? text : text + ".0";
}

}  // namespace starpo
