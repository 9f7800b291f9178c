#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/generator.h"

namespace starpo {

// Samples an id from softmax(logits / temperature) truncated by top-k, then min-p, then top-p. Inverts the cumulative
// distribution in id order at `uniform` in (0, 1). Keeps all ties at a threshold. scratch is reusable memory. Returns
// -1 if logits contain NaN or +infinity, or no finite value.
std::int32_t sample_token(std::span<const float> logits, const SamplingSettings&, float uniform,
                          std::vector<float>& scratch);

}  // namespace starpo
