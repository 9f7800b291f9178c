#pragma once

#include <string>

#include "tokenizer/tokenizer.h"

namespace starpo {

// A state as the model reads it.
struct ShownState {
  std::string text;
  int omitted_tokens = 0;
};

// Returns a state with at most `limit` of its tokens: the first half and the last half of them, with "..." on a line
// between them, because pages list results first and actions last. 0: no limit.
ShownState limit_state(const Tokenizer&, const std::string& state, int limit);

}  // namespace starpo
