#pragma once

#include <cstdint>
#include <vector>

namespace starpo {

// Sequences laid end to end without padding, and the positions whose prediction is trained.
struct PackedBatch {
  std::vector<std::int32_t> tokens;           // [tokens]
  std::vector<std::int32_t> sequence_starts;  // [sequences + 1], first 0, last = tokens.size()
  std::vector<std::int32_t>
      targets;  // ascending indices into tokens; the row before each predicts it, so none is a sequence's first
};

}  // namespace starpo
