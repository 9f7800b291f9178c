#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace starpo {

// Returns the terms of a text as Anserini's DefaultEnglishAnalyzer: tokens of split_words() without a final 's, in
// lower case, without 33 stop words, stemmed.
std::vector<std::string> analyze_english(std::string_view text);

}  // namespace starpo
