#pragma once

#include <cstddef>
#include <string_view>

namespace starpo {

struct CodePoint {
  char32_t value;
  std::size_t length;  // bytes
};

// The code point that begins at `at`. A byte that begins no valid sequence counts as one code point beyond Unicode's
// last.
CodePoint code_point_at(std::string_view text, std::size_t at);

// The code point that ends before `end`, which isn't 0.
CodePoint code_point_before(std::string_view text, std::size_t end);

// How many of the first bytes are valid UTF-8.
std::size_t valid_utf8_length(std::string_view text);

constexpr char32_t invalid_byte = 0x110000;

}  // namespace starpo
