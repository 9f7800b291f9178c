#pragma once

#include <cstddef>
#include <string_view>

namespace starpo {

struct CodePoint {
  char32_t value;
  std::size_t length;  // bytes
};

// Returns the code point that begins at `at`. An invalid byte counts as one code point with the value kInvalidByte.
CodePoint code_point_at(std::string_view text, std::size_t at);

// Returns the code point that ends at `end`, which must be above 0.
CodePoint code_point_before(std::string_view text, std::size_t end);

// Returns the length of the longest valid UTF-8 prefix, in bytes.
std::size_t valid_utf8_length(std::string_view text);

constexpr char32_t kInvalidByte = 0x110000;  // above the last Unicode code point

}  // namespace starpo
