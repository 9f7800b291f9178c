#include "tokenizer/byte_alphabet.h"

#include <array>

#include "tokenizer/utf8.h"

namespace starpo {
namespace {

constexpr char32_t first_stand_in = 0x100;

constexpr bool stands_for_itself(int byte) { return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE; }

// The bytes that U+0100, U+0101, ... stand for.
constexpr auto stand_ins = [] {
  std::array<unsigned char, 68> bytes{};
  std::size_t count = 0;
  for (int byte = 0; byte < 256; ++byte)
    if (!stands_for_itself(byte)) bytes[count++] = static_cast<unsigned char>(byte);
  return bytes;
}();

}  // namespace

std::optional<std::string> spelled_bytes(std::string_view entry) {
  std::string bytes;
  for (std::size_t i = 0; i < entry.size();) {
    const auto [code_point, length] = code_point_at(entry, i);
    i += length;
    if (code_point < first_stand_in && stands_for_itself(static_cast<int>(code_point))) bytes += static_cast<char>(code_point);
    else if (code_point >= first_stand_in && code_point < first_stand_in + stand_ins.size()) bytes += static_cast<char>(stand_ins[code_point - first_stand_in]);
    else return std::nullopt;
  }
  return bytes;
}

}  // namespace starpo
