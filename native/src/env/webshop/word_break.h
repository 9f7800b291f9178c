#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace starpo {

// Word break classes of UAX #29 and UTS #51, as flags, because some characters belong to two.
namespace word_break {
enum Class : std::uint32_t {
  kLetter = 1,  // including Hebrew letters
  kHebrewLetter = 1 << 1,
  kNumeric = 1 << 2,
  kKatakana = 1 << 3,
  kExtendNumLet = 1 << 4,
  kMidLetter = 1 << 5,   // joins letters
  kMidNumeric = 1 << 6,  // joins digits
  kSingleQuote = 1 << 7,
  kDoubleQuote = 1 << 8,
  kExtend = 1 << 9,  // including format characters
  kZeroWidthJoiner = 1 << 10,
  kPresentationSelector = 1 << 11,  // also kExtend
  kEmoji = 1 << 12,
  kEmojiModifierBase = 1 << 13,  // also kEmoji
  kEmojiModifier = 1 << 14,
  kRegionalIndicator = 1 << 15,
  kKeyCapBase = 1 << 16,
  kSouthEastAsian = 1 << 17,
  kHan = 1 << 18,
  kHiragana = 1 << 19,
};
}  // namespace word_break

// Characters from first to last have these classes.
struct WordBreakRange {
  std::uint32_t first, last, classes;
};

// Returns the ranges in ascending order. Characters outside are in no class.
std::span<const WordBreakRange> word_break_ranges();

// Returns the classes of a character; 0: none.
std::uint32_t word_break_classes(char32_t);

// Splits UTF-8 into the tokens of Lucene 8's StandardTokenizer: words, numbers, emoji sequences, single Han and
// Hiragana characters, and runs of South-East-Asian letters. Other characters and invalid bytes are skipped. A token
// has at most 255 UTF-16 units; the rest of a longer word is the next token.
std::vector<std::string_view> split_words(std::string_view text);

}  // namespace starpo
