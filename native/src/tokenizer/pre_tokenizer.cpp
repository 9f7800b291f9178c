#include "tokenizer/pre_tokenizer.h"


#include "tokenizer/character_class.h"
#include "tokenizer/utf8.h"

namespace starpo {

const std::string_view qwen2_regex =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

namespace {

// The text as characters with classes. Each alternative below is one of the pattern's, in its order; it gives the number of characters
// that it matches at a place, 0 for none.
class Matcher {
 public:
  Matcher(std::string_view text, SplitPattern pattern) : text_(text), pattern_(pattern) {
    for (std::size_t at = 0; at < text.size();) {
      const auto [code_point, length] = code_point_at(text, at);
      offsets_.push_back(at);
      code_points_.push_back(code_point);
      classes_.push_back(class_of(code_point));
      at += length;
    }
    offsets_.push_back(text.size());
  }

  std::vector<std::string_view> split() const {
    std::vector<std::string_view> pieces;
    for (std::size_t at = 0; at < classes_.size();) {
      const std::size_t length = match(at);
      pieces.push_back(text_.substr(offsets_[at], offsets_[at + length] - offsets_[at]));
      at += length;
    }
    return pieces;
  }

 private:
  std::size_t match(std::size_t at) const {
    if (const auto length = contraction(at)) return length;
    if (const auto length = word(at)) return length;
    if (const auto length = number(at)) return length;
    if (const auto length = symbols(at)) return length;
    return white_space(at);
  }

  // '(s|t|re|ve|m|ll|d), in Qwen2's pattern without case
  std::size_t contraction(std::size_t at) const {
    if (code_points_[at] != U'\'') return 0;
    for (const std::string_view ending : {"s", "t", "re", "ve", "m", "ll", "d"}) {
      std::size_t matched = 0;
      while (matched < ending.size() && at + 1 + matched < classes_.size() && same_letter(code_points_[at + 1 + matched], ending[matched])) ++matched;
      if (matched == ending.size()) return 1 + matched;
    }
    return 0;
  }

  bool same_letter(char32_t c, char letter) const { return c == static_cast<char32_t>(letter) || (qwen2() && c == static_cast<char32_t>(letter - 32)); }

  // [^\r\n\p{L}\p{N}]?\p{L}+, in GPT-2's pattern " ?\p{L}+"
  std::size_t word(std::size_t at) const {
    const auto kind = classes_[at];
    const bool lead = qwen2() ? kind == CharacterClass::space || kind == CharacterClass::other : code_points_[at] == U' ';
    const std::size_t letters = run(at + lead, CharacterClass::letter);
    return letters > 0 ? lead + letters : 0;
  }

  // \p{N}, in GPT-2's pattern " ?\p{N}+"
  std::size_t number(std::size_t at) const {
    if (qwen2()) return classes_[at] == CharacterClass::digit;
    const bool lead = code_points_[at] == U' ';
    const std::size_t digits = run(at + lead, CharacterClass::digit);
    return digits > 0 ? lead + digits : 0;
  }

  // " ?[^\s\p{L}\p{N}]+", in Qwen2's pattern with [\r\n]* after it
  std::size_t symbols(std::size_t at) const {
    const bool lead = code_points_[at] == U' ';
    const std::size_t count = run(at + lead, CharacterClass::other);
    if (count == 0) return 0;
    return lead + count + (qwen2() ? run(at + lead + count, CharacterClass::newline) : 0);
  }

  // \s*[\r\n]+ (Qwen2 only), \s+(?!\S), \s+
  std::size_t white_space(std::size_t at) const {
    std::size_t length = 0, last_newline = 0;
    while (at + length < classes_.size() && is_space(classes_[at + length])) {
      ++length;
      if (classes_[at + length - 1] == CharacterClass::newline) last_newline = length;
    }
    if (qwen2() && last_newline > 0) return last_newline;
    const bool at_end = at + length == classes_.size();
    return at_end || length == 1 ? length : length - 1;
  }

  static bool is_space(CharacterClass kind) { return kind == CharacterClass::space || kind == CharacterClass::newline; }
  bool qwen2() const { return pattern_ == SplitPattern::qwen2; }

  std::size_t run(std::size_t at, CharacterClass kind) const {
    std::size_t length = 0;
    while (at + length < classes_.size() && classes_[at + length] == kind) ++length;
    return length;
  }

  std::string_view text_;
  SplitPattern pattern_;
  std::vector<std::size_t> offsets_;
  std::vector<char32_t> code_points_;
  std::vector<CharacterClass> classes_;
};

}  // namespace

std::vector<std::string_view> split_text(std::string_view text, SplitPattern pattern) { return Matcher(text, pattern).split(); }

}  // namespace starpo
