#pragma once

#include <cstdint>
#include <vector>

namespace starpo {

// Concatenated sequences without padding, and the tokens to predict.
struct PackedBatch {
  std::vector<std::int32_t> tokens;           // [tokens]
  std::vector<std::int32_t> sequence_starts;  // [sequences + 1], first 0, last = tokens.size()
  // Ascending indices into tokens. The previous row predicts each, so the first token of a sequence can't be a target.
  std::vector<std::int32_t> targets;
};

}  // namespace starpo
