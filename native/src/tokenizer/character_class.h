#pragma once

namespace starpo {

enum class CharacterClass { letter, digit, space, newline, other };

// The class of a code point for pre-tokenisation. Exact for ASCII and Latin-1. Beyond, by blocks: spaces are spaces; general punctuation,
// currency, arrows, mathematical and technical symbols, box drawing, dingbats, CJK punctuation, full-width punctuation, private use and emoji
// are `other`; everything else counts as letters. Invalid bytes are `other`.
CharacterClass class_of(char32_t code_point);

}  // namespace starpo
