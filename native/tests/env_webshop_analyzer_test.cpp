#include <doctest/doctest.h>

#include "env/webshop/analyzer.h"
#include "env/webshop/porter_stemmer.h"
#include "env/webshop/word_break.h"
#include "vectors.h"

using namespace starpo;

namespace {

std::vector<std::string> words_of(std::string_view text) {
  const auto words = split_words(text);
  return {words.begin(), words.end()};
}

using Terms = std::vector<std::string>;

}  // namespace

TEST_CASE("split_words and analyze_english match Lucene") {
  for (const auto& vector : read_vectors("lucene_analyzer.json", "analyze")) {
    const auto text = vector[0].get<std::string>();
    CAPTURE(text);
    CHECK(words_of(text) == vector[1].get<Terms>());
    CHECK(analyze_english(text) == vector[2].get<Terms>());
  }
}

TEST_CASE("porter_stem matches Lucene") {
  for (const auto& vector : read_vectors("lucene_analyzer.json", "porter"))
    CHECK(analyze_english(vector[0].get<std::string>()) == Terms{vector[1].get<std::string>()});
  CHECK(porter_stem("possibli") == "possibl");
  CHECK(porter_stem("apologi") == "apolog");
  CHECK(porter_stem("as") == "as");
  CHECK(porter_stem("caf\u00E9ing") == "caf\u00E9");
}

TEST_CASE("analyze_english removes every stop word of Lucene") {
  for (const auto& word : read_vectors("lucene_analyzer.json", "stopwords"))
    CHECK(analyze_english(word.get<std::string>()).empty());
}

TEST_CASE("word break classes are those read from Lucene") {
  using namespace word_break;
  const std::map<std::string, std::uint32_t> flags{
      {"ALetter", kLetter},
      {"ALetter+Emoji", kLetter | kEmoji},
      {"DQ", kDoubleQuote},
      {"Emoji", kEmoji},
      {"EmojiModBase", kEmoji | kEmojiModifierBase},
      {"EmojiModifier", kEmojiModifier},
      {"Extend", kExtend},
      {"ExtendNumLet", kExtendNumLet},
      {"Han", kHan},
      {"Hiragana", kHiragana},
      {"Katakana", kKatakana},
      {"KeyCapBase", kKeyCapBase},
      {"MidLetter", kMidLetter},
      {"MidNum", kMidNumeric},
      {"Numeric", kNumeric},
      {"Numeric+KeyCapBase", kNumeric | kKeyCapBase},
      {"PresSel_FE0E", kExtend | kPresentationSelector},
      {"RegionalIndicator", kRegionalIndicator},
      {"SA", kSouthEastAsian},
      {"SA+Extend", kSouthEastAsian | kExtend},
      {"SQ_or_MidNumLet", kMidLetter | kMidNumeric},
      {"ZWJ", kZeroWidthJoiner},
  };
  std::map<std::uint32_t, std::uint32_t> expected;
  const auto classes = read_vectors("lucene_wordbreak_classes.json", "classes");
  for (const auto& [name, ranges] : classes.items())
    for (const auto& range : ranges) {
      const auto first = std::stoul(range[0].get<std::string>(), nullptr, 16);
      const auto last = std::stoul(range.back().get<std::string>(), nullptr, 16);
      for (auto c = first; c <= last; ++c) expected[static_cast<std::uint32_t>(c)] = flags.at(name);
    }
  expected.at(0x27) |= kSingleQuote;
  expected.at(0xFE0F) |= kPresentationSelector;
  for (std::uint32_t c = 0x5D0; c <= 0xFB4F; ++c)
    if (const bool hebrew = c <= 0x5F2 || c >= 0xFB1D; hebrew && expected.count(c) && expected[c] == kLetter)
      expected[c] |= kHebrewLetter;
  std::uint32_t different = 0;
  for (std::uint32_t c = 0; c <= 0x30000; ++c) {
    const auto found = expected.find(c);
    different += word_break_classes(c) != (found == expected.end() ? 0 : found->second);
  }
  CHECK(different == 0);
  CHECK(word_break_classes(0xE0020) == kExtend);
  CHECK(word_break_classes(0x10FFFF) == 0);
}

TEST_CASE("a token has at most 255 UTF-16 units") {
  const std::string letters(300, 'a');
  CHECK(words_of(letters) == Terms{letters.substr(0, 255), letters.substr(0, 45)});
  std::string wide;
  for (int i = 0; i < 130; ++i) wide += "\U00010400";  // two units each
  const auto words = words_of(wide);
  REQUIRE(words.size() == 2);
  CHECK(words[0].size() == 127 * 4);
}

TEST_CASE("Hebrew letters join across quotes") {
  CHECK(words_of("\u05D0\"\u05D1 \u05D0\" a\"b \u05D0'") == Terms{"\u05D0\"\u05D1", "\u05D0", "a", "b", "\u05D0'"});
  CHECK(words_of("a'\u05D0' a\u05D0'") == Terms{"a'\u05D0", "a\u05D0'"});
}

TEST_CASE("invalid UTF-8 and control characters separate words") {
  CHECK(words_of(std::string("a\xFF"
                             "b\0c\x01",
                             6)) == Terms{"a", "b", "c"});
  CHECK(analyze_english("").empty());
}
