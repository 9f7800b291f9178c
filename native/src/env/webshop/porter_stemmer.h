#pragma once

#include <string>

namespace starpo {

// Removes suffixes from a lower-case UTF-8 word like Lucene's PorterStemFilter: the algorithm of Porter (1980) with the
// author's two later changes ("bli" becomes "ble", "logi" becomes "log"). Words of at most two UTF-16 units do not
// change.
std::string porter_stem(const std::string& word);

}  // namespace starpo
