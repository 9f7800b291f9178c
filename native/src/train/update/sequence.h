#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/packed_batch.h"
#include "rollout/episode.h"

namespace starpo {

// One trajectory as the update sees it: all ids, which of them were chosen, and what is known of the chosen ones.
struct Sequence {
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> targets;      // ascending indices of the trained tokens
  std::vector<float> rollout_logprobs;    // [targets], as the rest
  std::vector<double> advantages;
  std::vector<float> reference_logprobs;  // with a KL term
  std::vector<float> values;              // with a critic: before the update
  std::vector<double> returns;            // with a critic: what it is to learn
};

Sequence make_sequence(const Episode&);

// Consecutive sequences that one forward and backward takes.
struct MicroBatch {
  PackedBatch batch;
  int first;  // sequences [first, first + count)
  int count;
};

// Cuts sequences, in order, into micro-batches of at most `tokens` (one sequence at least).
std::vector<MicroBatch> pack(std::span<const Sequence>, int tokens);

}  // namespace starpo
