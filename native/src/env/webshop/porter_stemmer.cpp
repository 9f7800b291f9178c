#include "env/webshop/porter_stemmer.h"

#include <array>
#include <string_view>

#include "env/webshop/unicode_text.h"

namespace starpo {
namespace {

struct SuffixRule {
  std::string_view suffix, replacement;
};

// Rules of a step are in the order in which they are tried. The first matching suffix decides, even if its condition
// fails.
constexpr std::array kDoubleSuffixes{
    SuffixRule{"ational", "ate"}, SuffixRule{"tional", "tion"}, SuffixRule{"enci", "ence"},
    SuffixRule{"anci", "ance"},   SuffixRule{"izer", "ize"},    SuffixRule{"bli", "ble"},
    SuffixRule{"alli", "al"},     SuffixRule{"entli", "ent"},   SuffixRule{"eli", "e"},
    SuffixRule{"ousli", "ous"},   SuffixRule{"ization", "ize"}, SuffixRule{"ation", "ate"},
    SuffixRule{"ator", "ate"},    SuffixRule{"alism", "al"},    SuffixRule{"iveness", "ive"},
    SuffixRule{"fulness", "ful"}, SuffixRule{"ousness", "ous"}, SuffixRule{"aliti", "al"},
    SuffixRule{"iviti", "ive"},   SuffixRule{"biliti", "ble"},  SuffixRule{"logi", "log"},
};
constexpr std::array kSingleSuffixes{
    SuffixRule{"icate", "ic"}, SuffixRule{"ative", ""}, SuffixRule{"alize", "al"}, SuffixRule{"iciti", "ic"},
    SuffixRule{"ical", "ic"},  SuffixRule{"ful", ""},   SuffixRule{"ness", ""},
};
constexpr std::array<std::string_view, 19> kRemovedSuffixes{"al",  "ance",  "ence", "er",  "ic",  "able", "ible",
                                                            "ant", "ement", "ment", "ent", "ion", "ou",   "ism",
                                                            "ate", "iti",   "ous",  "ive", "ize"};

// Char: char for ASCII, else char16_t, because Lucene counts UTF-16 units.
template <class Char>
class PorterWord {
 public:
  explicit PorterWord(std::basic_string<Char> word) : word_(std::move(word)) {}

  std::basic_string<Char> stem() && {
    remove_plural_and_participle();
    if (ends_with("y") && has_vowel(stem_)) word_.back() = 'i';
    if (word_.size() > 1) replace_suffix(kDoubleSuffixes);
    replace_suffix(kSingleSuffixes);
    if (word_.size() > 1) remove_suffix();
    remove_final_e_and_l();
    return std::move(word_);
  }

 private:
  bool is_consonant(std::size_t at) const {
    switch (word_[at]) {
      case 'a':
      case 'e':
      case 'i':
      case 'o':
      case 'u': return false;
      case 'y': return at == 0 || !is_consonant(at - 1);
      default: return true;
    }
  }

  // Returns the number of vowel-consonant sequences in the first `length` characters.
  int measure(std::size_t length) const {
    int sequences = 0;
    bool after_vowel = false;
    bool previous = true;  // whether the previous character is a consonant
    for (std::size_t at = 0; at < length; ++at) {
      const bool consonant = word_[at] == 'y' ? at == 0 || !previous : is_consonant(at);
      sequences += consonant && after_vowel;
      after_vowel = !consonant;
      previous = consonant;
    }
    return sequences;
  }

  bool has_vowel(std::size_t length) const {
    for (std::size_t at = 0; at < length; ++at)
      if (!is_consonant(at)) return true;
    return false;
  }

  bool ends_with_double_consonant() const {
    const std::size_t size = word_.size();
    return size > 1 && word_[size - 1] == word_[size - 2] && is_consonant(size - 1);
  }

  // Returns whether the first `length` characters end with consonant, vowel, consonant, and the last is not w, x or y.
  bool ends_with_short_syllable(std::size_t length) const {
    if (length < 3) return false;
    const Char last = word_[length - 1];
    return is_consonant(length - 1) && !is_consonant(length - 2) && is_consonant(length - 3) && last != 'w' &&
           last != 'x' && last != 'y';
  }

  // Sets stem_ to the length before the suffix if the word has it.
  bool ends_with(std::string_view suffix) {
    if (suffix.size() > word_.size()) return false;
    const std::size_t begin = word_.size() - suffix.size();
    for (std::size_t i = 0; i < suffix.size(); ++i)
      if (word_[begin + i] != static_cast<Char>(suffix[i])) return false;
    stem_ = begin;
    return true;
  }

  void set_suffix(std::string_view suffix) {
    word_.resize(stem_);
    word_.append(suffix.begin(), suffix.end());
  }

  void remove_plural_and_participle() {
    if (word_.back() == 's') {
      if (ends_with("sses") || ends_with("ies"))
        word_.resize(word_.size() - 2);
      else if (word_[word_.size() - 2] != 's')
        word_.pop_back();
    }
    if (ends_with("eed")) {
      if (measure(stem_) > 0) word_.pop_back();
      return;
    }
    if (!((ends_with("ed") || ends_with("ing")) && has_vowel(stem_))) return;
    word_.resize(stem_);
    if (ends_with("at") || ends_with("bl") || ends_with("iz")) {
      word_.push_back('e');
    } else if (ends_with_double_consonant()) {
      if (word_.back() != 'l' && word_.back() != 's' && word_.back() != 'z') word_.pop_back();
    } else if (measure(word_.size()) == 1 && ends_with_short_syllable(word_.size())) {
      word_.push_back('e');
    }
  }

  template <class Rules>
  void replace_suffix(const Rules& rules) {
    for (const SuffixRule& rule : rules) {
      if (!ends_with(rule.suffix)) continue;
      if (measure(stem_) > 0) set_suffix(rule.replacement);
      return;
    }
  }

  void remove_suffix() {
    for (const std::string_view suffix : kRemovedSuffixes) {
      if (!ends_with(suffix)) continue;
      if (suffix == "ion" && (stem_ == 0 || (word_[stem_ - 1] != 's' && word_[stem_ - 1] != 't'))) continue;
      if (measure(stem_) > 1) word_.resize(stem_);
      return;
    }
  }

  void remove_final_e_and_l() {
    const std::size_t last = word_.size() - 1;
    if (word_[last] == 'e') {
      const int sequences = measure(word_.size());
      if (sequences > 1 || (sequences == 1 && !ends_with_short_syllable(last))) word_.pop_back();
    }
    if (!word_.empty() && word_.back() == 'l' && ends_with_double_consonant() && measure(word_.size()) > 1)
      word_.pop_back();
  }

  std::basic_string<Char> word_;
  std::size_t stem_ = 0;  // length before the last suffix that matched
};

}  // namespace

std::string porter_stem(const std::string& word) {
  if (is_ascii(word)) return word.size() > 2 ? PorterWord<char>(word).stem() : word;
  std::u16string units = to_utf16(word);
  return units.size() > 2 ? to_utf8(PorterWord<char16_t>(std::move(units)).stem()) : word;
}

}  // namespace starpo
