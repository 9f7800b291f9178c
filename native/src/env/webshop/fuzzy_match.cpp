#include "env/webshop/fuzzy_match.h"

#include <utf8proc.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "env/webshop/unicode_text.h"

namespace starpo {
namespace {

using FuzzyWords = std::set<std::u32string>;

// Removes U+0080 to U+00FF, and splits at characters that are not letters or digits.
FuzzyWords fuzzy_words(std::string_view text) {
  FuzzyWords words;
  std::u32string word;
  const auto finish = [&] {
    if (!word.empty()) words.insert(std::move(word));
    word.clear();
  };
  for (const char32_t c : to_utf32(text)) {
    if (c >= 0x80 && c <= 0xFF) continue;
    if (is_alphanumeric(c))
      word.push_back(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
    else
      finish();
  }
  finish();
  return words;
}

std::u32string joined(const std::vector<std::u32string>& words) {
  std::u32string text;
  for (const auto& word : words) {
    if (!text.empty()) text += U' ';
    text += word;
  }
  return text;
}

std::size_t longest_common_subsequence(std::u32string_view a, std::u32string_view b) {
  std::vector<std::size_t> previous(b.size() + 1), current(b.size() + 1);
  for (const char32_t c : a) {
    for (std::size_t j = 0; j < b.size(); ++j)
      current[j + 1] = c == b[j] ? previous[j] + 1 : std::max(previous[j + 1], current[j]);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

// The similarity of two texts that a number of insertions and deletions separates. lengths: their sum.
double similarity(std::size_t distance, std::size_t lengths) {
  return lengths == 0 ? 100 : 100 - 100 * static_cast<double>(distance) / static_cast<double>(lengths);
}

}  // namespace

int token_set_ratio(std::string_view first, std::string_view second) {
  const FuzzyWords a = fuzzy_words(first), b = fuzzy_words(second);
  if (a.empty() || b.empty()) return 0;
  std::vector<std::u32string> shared, only_a, only_b;
  std::ranges::set_intersection(a, b, std::back_inserter(shared));
  std::ranges::set_difference(a, b, std::back_inserter(only_a));
  std::ranges::set_difference(b, a, std::back_inserter(only_b));
  if (!shared.empty() && (only_a.empty() || only_b.empty())) return 100;

  // The texts that are compared are the shared words, and the shared words followed by the others of each side.
  const std::u32string rest_a = joined(only_a), rest_b = joined(only_b);
  const std::size_t common = joined(shared).size(), gap = common > 0;
  const std::size_t length_a = common + gap + rest_a.size(), length_b = common + gap + rest_b.size();
  const std::size_t distance = rest_a.size() + rest_b.size() - 2 * longest_common_subsequence(rest_a, rest_b);
  double best = similarity(distance, length_a + length_b);
  if (common > 0) {
    best = std::max(best, similarity(gap + rest_a.size(), common + length_a));
    best = std::max(best, similarity(gap + rest_b.size(), common + length_b));
  }
  return static_cast<int>(std::nearbyint(best));  // half to even, as Python's round
}

}  // namespace starpo
