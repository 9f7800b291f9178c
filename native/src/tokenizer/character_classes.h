#pragma once

namespace starpo {

// Unicode's White_Space. Bytes that are no UTF-8 have no class.
bool is_white_space(char32_t);

// A character of a word as Unicode's regular expressions have it (UTS 18, \w): Alphabetic, Mark, Decimal_Number, Connector_Punctuation, Join_Control, of the
// Unicode version that utf8proc knows.
bool is_word_character(char32_t);

}  // namespace starpo
