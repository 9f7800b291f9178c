#include "tokenizer/character_classes.h"

#include <utf8proc.h>

#include "tokenizer/utf8.h"

namespace starpo {
namespace {

// Letters in circles and squares, which are alphabetic though their category is Symbol.
constexpr bool is_enclosed_letter(char32_t c) {
  return (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) || (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
}

constexpr bool is_join_control(char32_t c) { return c == 0x200C || c == 0x200D; }

}  // namespace

bool is_white_space(char32_t c) {
  switch (c) {
    case 0x20: case 0x85: case 0xA0: case 0x1680: case 0x2028: case 0x2029: case 0x202F: case 0x205F: case 0x3000: return true;
  }
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x2000 && c <= 0x200A);
}

bool is_word_character(char32_t c) {
  if (c >= invalid_byte) return false;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU: case UTF8PROC_CATEGORY_LL: case UTF8PROC_CATEGORY_LT: case UTF8PROC_CATEGORY_LM: case UTF8PROC_CATEGORY_LO: case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_MN: case UTF8PROC_CATEGORY_MC: case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND: case UTF8PROC_CATEGORY_PC: return true;
    default: return is_enclosed_letter(c) || is_join_control(c);
  }
}

}  // namespace starpo
