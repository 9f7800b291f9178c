#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/packed_batch.h"
#include "rollout/episode.h"

namespace starpo {

// One trajectory as the update sees it: which of its episode's ids were chosen, and what is known of the chosen ones.
// The ids stay where they are.
struct Sequence {
  const Episode* episode = nullptr;     // outlives it
  std::vector<std::int32_t> targets;    // ascending indices of the trained tokens, among all of the episode's
  std::vector<float> rollout_logprobs;  // [targets], as the rest
  std::vector<double> advantages;
  std::vector<float> reference_logprobs;  // with a KL term
  std::vector<float> values;              // with a critic: before the update
  std::vector<double> returns;            // with a critic: what it is to learn
};

Sequence make_sequence(const Episode&);

// Puts whole groups into the order in which they are learned from: each environment's are spread evenly over the whole,
// so that every mini-batch holds a share of all of them rather than the last one's alone. One environment's groups stay
// as they are.
void mix_environments(std::vector<Sequence>&);

// Consecutive sequences that one forward and backward takes: [first, first + count).
struct MicroBatch {
  int first;
  int count;
};

// Cuts sequences, in order, into micro-batches of at most `tokens` (one sequence at least).
std::vector<MicroBatch> cut_into_micro_batches(std::span<const Sequence>, int tokens);

// The ids of sequences end to end, as an engine takes them.
PackedBatch pack(std::span<const Sequence>);

}  // namespace starpo
