#pragma once

#include <cstdint>

#include "base/philox.h"
#include "engine/cuda/kernels/loss.h"
#include "engine/cuda/runtime/stream.h"
#include "engine/generator.h"

// Choosing the next token on the device. All pointers are device memory.
namespace starpo::cuda {

// What a sampler reads from device memory, so that a recorded graph serves every iteration.
struct SamplerSettings {
  SamplingSettings sampling;
  Philox random;            // key of all draws
  std::uint32_t iteration;  // first counter word
};

// The rows that choose: each holds its sequence's last token; all [rows].
struct SamplerRows {
  const std::int32_t* episodes;   // second counter word
  const std::int32_t* positions;  // of the last token; the next one's, one more, is the third counter word
};

// What was chosen; all [rows].
struct Choices {
  std::int32_t* ids;    // -1: the row has NaN, +infinity or nothing finite
  float* logprobs;      // of softmax(logits / temperature), all tokens in it, with loss.h's bits
  float* entropies;     // of the same
  std::int32_t* stops;  // 1: one of stop_ids
};

// Draws from softmax(logits / temperature) after top-k, then min-p, then top-p, ties at a threshold all kept, by the
// Gumbel-max trick: the largest of z + noise, with four ids' noise from the draw that the fourth counter word numbers.
// A row's choice depends on no other row. logits.temperature isn't read: the settings' is.
template <class T>
void sample(Stream&, const Logits<const T>&, const SamplerSettings* settings, const SamplerRows&,
            const std::int32_t* stop_ids, int stop_count, const Choices&);

}  // namespace starpo::cuda
