#include "tokenizer/utf8.h"

namespace starpo {

CodePoint code_point_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xF0 && first < 0xF5   ? 4
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xC2 && first < 0xE0 ? 2
                                                             : 0;
  if (length == 0 || at + length > text.size()) return {kInvalidByte, 1};
  char32_t value = first & (0xFF >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return {kInvalidByte, 1};
    value = value << 6 | (byte(at + i) & 0x3F);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value < 0xE000;
  if (value < smallest[length] || value > 0x10FFFF || surrogate) return {kInvalidByte, 1};
  return {value, length};
}

CodePoint code_point_before(std::string_view text, std::size_t end) {
  const std::string_view before = text.substr(0, end);
  for (std::size_t length = 1; length <= 4 && length <= end; ++length)
    if (const auto found = code_point_at(before, end - length); found.value != kInvalidByte && found.length == length)
      return found;
  return {kInvalidByte, 1};
}

std::size_t valid_utf8_length(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto [value, length] = code_point_at(text, at);
    if (value == kInvalidByte) break;
    at += length;
  }
  return at;
}

}  // namespace starpo
