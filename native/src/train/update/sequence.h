#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/network_pass.h"
#include "rollout/episode.h"

namespace starpo {

// One trajectory for the update: the trained tokens of an episode and their values. Token ids stay in the episode.
struct Sequence {
  const Episode* episode = nullptr;     // must outlive this object
  int staleness = 0;                    // iterations since it was sampled; above 0 if it is replayed
  std::vector<std::int32_t> targets;    // ascending indices of trained tokens among all tokens of the episode
  std::vector<int> turn_lengths;        // trained tokens of each turn
  std::vector<float> rollout_logprobs;  // [targets], as are all below
  std::vector<float> old_logprobs;      // with corrections; of the policy before the update
  std::vector<double> advantages;
  std::vector<float> reference_logprobs;  // with a KL term
  std::vector<float> values;              // with a critic; before the update
  std::vector<double> value_targets;      // with a critic
  std::vector<bool> value_mask;           // with a critic; tokens whose value is trained
};

Sequence make_sequence(const Episode&);

// Returns for each trained token whether it was sampled before `</think>`.
std::vector<bool> reasoning_tokens(const Episode&);

// Interleaves the groups of all environments evenly, so that every mini-batch has a share of each environment, and the
// same for replayed groups. Otherwise keeps the order.
void mix_environments(std::vector<Sequence>&);

// Consecutive sequences of one forward and backward pass: [first, first + count).
struct MicroBatch {
  int first;
  int count;
};

// Splits sequences, in order, into micro-batches of at most `tokens` tokens (at least one sequence).
std::vector<MicroBatch> split_into_micro_batches(std::span<const Sequence>, int tokens);

// Concatenates the ids of sequences for an engine.
PackedBatch pack(std::span<const Sequence>);

}  // namespace starpo
