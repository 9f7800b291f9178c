#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/training_pass.h"
#include "rollout/episode.h"

namespace starpo {

// One trajectory as the update sees it: all ids, and which of them were chosen.
struct Sequence {
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> targets;      // ascending indices of the trained tokens
  std::vector<float> rollout_logprobs;    // [targets]
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
