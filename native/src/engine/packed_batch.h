#pragma once

#include <cstdint>
#include <vector>

namespace starpo {

// Concatenated sequences without padding, and the positions to predict.
struct PackedBatch {
  std::vector<std::int32_t> tokens;           // [tokens]
  std::vector<std::int32_t> sequence_starts;  // [sequences + 1], first 0, last = tokens.size()
  std::vector<std::int32_t>
      targets;  // ascending indices into tokens; the previous row predicts each, so none is a sequence's first token
};

}  // namespace starpo
