#pragma once

#include <cstdint>

#include "base/philox.h"
#include "engine/cuda/kernels/loss.h"
#include "engine/cuda/runtime/stream.h"
#include "engine/generator.h"

// Samples the next token on the device. All pointers are device memory.
namespace starpo::cuda {

// Settings that the sampler reads from device memory, so that a captured graph works for every iteration.
struct SamplerSettings {
  SamplingSettings sampling;
  Philox random;            // key of all draws
  std::uint32_t iteration;  // first counter word
};

// The rows to sample for, each at the last token of its sequence: [rows].
struct SamplerRows {
  const std::int32_t* episodes;   // second counter word
  const std::int32_t* positions;  // of the last token; one more is the third counter word
};

// The chosen tokens: [rows].
struct Choices {
  std::int32_t* ids;    // -1: the row contains NaN or +infinity, or no finite logit
  float* logprobs;      // from softmax(logits / temperature) before truncation, bit-identical to loss.h
  float* entropies;     // of the same distribution
  std::int32_t* stops;  // 1: the id is one of stop_ids
};

// Samples from softmax(logits / temperature) truncated by top-k, then min-p, then top-p. All ties at a threshold are
// kept. Inverts the cumulative distribution with one random number per row; the fourth counter word is 0. A row's
// choice doesn't depend on other rows. Reads the temperature from the settings, not from logits.
void sample(Stream&, const Logits&, const SamplerSettings* settings, const SamplerRows&, const std::int32_t* stop_ids,
            int stop_count, const Choices&);

}  // namespace starpo::cuda
