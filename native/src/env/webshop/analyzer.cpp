#include "env/webshop/analyzer.h"

#include <algorithm>
#include <array>

#include "env/webshop/porter_stemmer.h"
#include "env/webshop/unicode_text.h"
#include "env/webshop/word_break.h"

namespace starpo {
namespace {

// EnglishAnalyzer.ENGLISH_STOP_WORDS_SET, sorted.
constexpr std::array<std::string_view, 33> kStopWords{
    "a",   "an",    "and",  "are",   "as",    "at",   "be",   "but", "by",  "for",  "if",
    "in",  "into",  "is",   "it",    "no",    "not",  "of",   "on",  "or",  "such", "that",
    "the", "their", "then", "there", "these", "they", "this", "to",  "was", "will", "with"};
static_assert(std::ranges::is_sorted(kStopWords));

std::string_view without_possessive(std::string_view word) {
  for (const std::string_view apostrophe : {"'", "\u2019", "\uFF07"}) {
    const std::size_t length = apostrophe.size() + 1;
    if (word.size() < length || (word.back() != 's' && word.back() != 'S')) continue;
    if (word.substr(word.size() - length, apostrophe.size()) == apostrophe) return word.substr(0, word.size() - length);
  }
  return word;
}

}  // namespace

std::vector<std::string> analyze_english(std::string_view text) {
  std::vector<std::string> terms;
  for (const std::string_view word : split_words(text)) {
    const std::string lower = lower_characters(without_possessive(word));
    if (!std::ranges::binary_search(kStopWords, std::string_view(lower))) terms.push_back(porter_stem(lower));
  }
  return terms;
}

}  // namespace starpo
