#pragma once

#include <string_view>

namespace starpo {

// Returns thefuzz's token_set_ratio (version 0.20 or newer, which uses rapidfuzz): how well the words of two texts
// agree, from 0 to 100.
int token_set_ratio(std::string_view, std::string_view);

}  // namespace starpo
