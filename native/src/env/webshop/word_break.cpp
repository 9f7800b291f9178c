#include "env/webshop/word_break.h"

#include <algorithm>
#include <array>

#include "tokenizer/utf8.h"

namespace starpo {
namespace {

using namespace word_break;

constexpr std::uint32_t kMaxTokenUnits = 255;  // StandardAnalyzer.DEFAULT_MAX_TOKEN_LENGTH

std::uint32_t find_word_break_classes(char32_t c) {
  const auto ranges = word_break_ranges();
  const auto above = std::ranges::upper_bound(ranges, c, {}, &WordBreakRange::first);
  return above != ranges.begin() && c <= std::prev(above)->last ? std::prev(above)->classes : 0;
}

// Matches the rules of StandardTokenizerImpl.jflex on the characters of a text. Every function returns the end of its
// longest match that begins at a position, or the position itself if there is none.
class WordMatcher {
 public:
  explicit WordMatcher(std::string_view text) {
    offsets_.reserve(text.size() + 1);
    units_.reserve(text.size() + 1);
    characters_.reserve(text.size());
    std::uint32_t units = 0;
    for (std::size_t at = 0; at < text.size();) {
      const auto [value, length] = code_point_at(text, at);
      offsets_.push_back(at);
      units_.push_back(units);
      characters_.push_back({value, word_break_classes(value)});
      units += value > 0xFFFF && value != kInvalidByte ? 2 : 1;
      at += length;
    }
    offsets_.push_back(text.size());
    units_.push_back(units);
  }

  std::size_t size() const { return characters_.size(); }
  std::size_t offset(std::size_t at) const { return offsets_[at]; }

  std::size_t match(std::size_t at) {
    end_ = std::min(size(), at + kMaxTokenUnits);
    while (units_[end_] - units_[at] > kMaxTokenUnits) --end_;
    return std::max({match_emoji(at), match_word(at), match_south_east_asian(at), match_single(at)});
  }

 private:
  struct Character {
    char32_t value;
    std::uint32_t classes;
  };

  bool is(std::size_t at, std::uint32_t classes) const { return at < end_ && (characters_[at].classes & classes) != 0; }
  bool is_value(std::size_t at, char32_t value) const { return at < end_ && characters_[at].value == value; }

  std::size_t skip_extenders(std::size_t at) const {
    while (is(at, kExtend | kZeroWidthJoiner)) ++at;
    return at;
  }

  // Extenders of an emoji, which a presentation selector ends.
  std::size_t skip_emoji_extenders(std::size_t at) const {
    while (is(at, kExtend | kZeroWidthJoiner) && !is(at, kPresentationSelector)) ++at;
    return at;
  }

  bool is_emoji_presentation(std::size_t at) const { return is_value(at, 0xFE0F); }

  std::size_t match_single(std::size_t at) const { return is(at, kHan | kHiragana) ? skip_extenders(at + 1) : at; }

  std::size_t match_south_east_asian(std::size_t at) const {
    while (is(at, kSouthEastAsian)) at = skip_extenders(at + 1);
    return at;
  }

  // Words and numbers: WB5 to WB13b.
  std::size_t match_word(std::size_t begin) const {
    // closed: after a quote that belongs to a Hebrew letter. A letter or digit may follow, but not another joiner.
    enum class State { start, connector, katakana, numeric, letter, hebrew_letter, closed } state = State::start;
    std::size_t matched = begin;
    bool has_core = false;
    for (std::size_t at = begin; at < end_;) {
      std::size_t next = skip_extenders(at + 1);
      const bool is_letter_state = state == State::letter || state == State::hebrew_letter;
      if (is(at, kExtendNumLet)) {
        state = State::connector;
      } else if (is(at, kKatakana)) {
        if (state != State::start && state != State::connector && state != State::katakana) break;
        state = State::katakana;
        has_core = true;
      } else if (is(at, kLetter | kNumeric)) {
        if (state == State::katakana) break;
        state = is(at, kNumeric) ? State::numeric : is(at, kHebrewLetter) ? State::hebrew_letter : State::letter;
        has_core = true;
      } else if ((is_letter_state && is(at, kMidLetter) && is(next, kLetter)) ||
                 (state == State::numeric && is(at, kMidNumeric) && is(next, kNumeric))) {
        // A Hebrew letter after a joiner doesn't join across quotes.
        state = is_letter_state ? State::letter : State::numeric;
        next = skip_extenders(next + 1);
      } else if (state == State::hebrew_letter && is(at, kSingleQuote)) {
        state = State::closed;
      } else if (state == State::hebrew_letter && is(at, kDoubleQuote) && is(next, kHebrewLetter)) {
        state = State::closed;
        next = skip_extenders(next + 1);
      } else {
        break;
      }
      at = next;
      if (has_core) matched = at;
    }
    return matched;
  }

  // An emoji with its modifier or presentation selector.
  std::size_t match_emoji_element(std::size_t begin) const {
    std::size_t at = begin;
    while (is(at, kZeroWidthJoiner)) ++at;
    if (is(at, kEmoji)) {
      const bool takes_modifier = is(at, kEmojiModifierBase);
      at = skip_emoji_extenders(at + 1);
      if (takes_modifier && is(at, kEmojiModifier)) return skip_emoji_extenders(at + 1);
      return is_emoji_presentation(at) ? at + 1 : at;
    }
    return is(begin, kEmojiModifier) ? skip_emoji_extenders(begin + 1) : begin;
  }

  // Emoji sequences of UTS #51: flags, key caps, joined sequences and tag sequences.
  std::size_t match_emoji(std::size_t begin) const {
    if (is(begin, kRegionalIndicator)) {
      const std::size_t second = skip_extenders(begin + 1);
      return is(second, kRegionalIndicator) ? skip_extenders(second + 1) : begin;
    }
    if (is(begin, kKeyCapBase)) return match_key_cap(begin);
    const std::size_t first = match_emoji_element(begin);
    if (first == begin) return begin;
    std::size_t at = first;
    for (;;) {
      const bool ends_with_joiner = is(at - 1, kZeroWidthJoiner);
      const std::size_t from = ends_with_joiner ? at : is(at, kZeroWidthJoiner) ? at + 1 : end_;
      const std::size_t next = from < end_ ? match_emoji_element(from) : from;
      if (next == from) break;
      at = next;
    }
    return std::max(at, match_tags(first));
  }

  std::size_t match_key_cap(std::size_t begin) const {
    const auto is_key_cap = [this](std::size_t at) { return is_value(at, 0x20E3); };
    const std::size_t at = skip_emoji_extenders(begin + 1);
    if (is_emoji_presentation(at) && is_key_cap(at + 1)) return skip_emoji_extenders(at + 2);
    for (std::size_t i = begin + 1; i < at; ++i)
      if (is_key_cap(i)) return at;
    return begin;
  }

  std::size_t match_tags(std::size_t begin) const {
    std::size_t at = begin;
    while (at < end_ && characters_[at].value >= 0xE0020 && characters_[at].value <= 0xE007E) ++at;
    return at > begin && is_value(at, 0xE007F) ? at + 1 : begin;
  }

  std::vector<Character> characters_;
  std::vector<std::size_t> offsets_;  // of each character and the end, in bytes
  std::vector<std::uint32_t> units_;  // UTF-16 units before each character and the end
  std::size_t end_ = 0;               // of the characters that the current token may have
};

}  // namespace

std::uint32_t word_break_classes(char32_t c) {
  static const auto ascii = [] {
    std::array<std::uint32_t, 128> classes;
    for (char32_t i = 0; i < classes.size(); ++i) classes[i] = find_word_break_classes(i);
    return classes;
  }();
  return c < ascii.size() ? ascii[c] : find_word_break_classes(c);
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  WordMatcher matcher(text);
  for (std::size_t at = 0; at < matcher.size();) {
    const std::size_t end = matcher.match(at);
    if (end > at) words.push_back(text.substr(matcher.offset(at), matcher.offset(end) - matcher.offset(at)));
    at = std::max(end, at + 1);
  }
  return words;
}

}  // namespace starpo
