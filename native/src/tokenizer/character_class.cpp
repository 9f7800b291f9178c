#include "tokenizer/character_class.h"

#include <array>

namespace starpo {
namespace {

struct Block {
  char32_t first, last;
  CharacterClass kind;
};

// In order; what lies between is letters.
constexpr std::array blocks{
    Block{0x02C2, 0x02C5, CharacterClass::other},    Block{0x0300, 0x036F, CharacterClass::other},
    Block{0x1680, 0x1680, CharacterClass::space},    Block{0x2000, 0x200A, CharacterClass::space},
    Block{0x200B, 0x2027, CharacterClass::other},    Block{0x2028, 0x2029, CharacterClass::space},
    Block{0x202A, 0x202E, CharacterClass::other},    Block{0x202F, 0x202F, CharacterClass::space},
    Block{0x2030, 0x205E, CharacterClass::other},    Block{0x205F, 0x205F, CharacterClass::space},
    Block{0x2060, 0x206F, CharacterClass::other},    Block{0x2070, 0x2070, CharacterClass::digit},
    Block{0x2074, 0x2079, CharacterClass::digit},    Block{0x207A, 0x207E, CharacterClass::other},
    Block{0x2080, 0x2089, CharacterClass::digit},    Block{0x208A, 0x208E, CharacterClass::other},
    Block{0x20A0, 0x20FF, CharacterClass::other},    Block{0x2150, 0x2189, CharacterClass::digit},
    Block{0x2190, 0x245F, CharacterClass::other},    Block{0x2460, 0x249B, CharacterClass::digit},
    Block{0x249C, 0x2BFF, CharacterClass::other},    Block{0x2E00, 0x2FFF, CharacterClass::other},
    Block{0x3000, 0x3000, CharacterClass::space},    Block{0x3001, 0x3004, CharacterClass::other},
    Block{0x3008, 0x3020, CharacterClass::other},    Block{0xD800, 0xF8FF, CharacterClass::other},
    Block{0xFE00, 0xFE6F, CharacterClass::other},    Block{0xFF01, 0xFF0F, CharacterClass::other},
    Block{0xFF10, 0xFF19, CharacterClass::digit},    Block{0xFF1A, 0xFF20, CharacterClass::other},
    Block{0xFF3B, 0xFF40, CharacterClass::other},    Block{0xFF5B, 0xFF65, CharacterClass::other},
    Block{0xFFE0, 0xFFFF, CharacterClass::other},    Block{0x1F000, 0x1FAFF, CharacterClass::other},
    Block{0xE0000, 0x110000, CharacterClass::other},
};

CharacterClass latin_class(char32_t c) {
  if (c == '\n' || c == '\r') return CharacterClass::newline;
  if (c == ' ' || (c >= 0x09 && c <= 0x0D) || c == 0x85 || c == 0xA0) return CharacterClass::space;
  if (c >= '0' && c <= '9') return CharacterClass::digit;
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return CharacterClass::letter;
  if (c == 0xAA || c == 0xB5 || c == 0xBA || (c >= 0xC0 && c != 0xD7 && c != 0xF7)) return CharacterClass::letter;
  if (c == 0xB2 || c == 0xB3 || c == 0xB9 || (c >= 0xBC && c <= 0xBE)) return CharacterClass::digit;
  return CharacterClass::other;
}

}  // namespace

CharacterClass class_of(char32_t code_point) {
  if (code_point < 0x100) return latin_class(code_point);
  for (const auto& block : blocks)
    if (code_point <= block.last) return code_point >= block.first ? block.kind : CharacterClass::letter;
  return CharacterClass::letter;
}

}  // namespace starpo
