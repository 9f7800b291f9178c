#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "algorithm/objectives.h"
#include "engine/network.h"

namespace starpo {

// How large a comparison is; what isn't given is the starter's.
struct WorkloadSize {
  int sequences = 64, length = 256, first_target = 64, steps = 3;
  int groups = 8, group_size = 16, prompt = 64, sampled = 192, repeats = 3;
};

// What both sides of a comparison compute: one optimiser step on a mini-batch, and the episodes' tokens of one rollout,
// in the starter's shapes.
struct Workload {
  int sequences, length, first_target,
      steps;                         // training: sequences of `length` tokens; those from first_target on are targets
  std::vector<std::int32_t> tokens;  // [sequences, length]
  std::vector<float> rollout_logprobs;  // [sequences, length - first_target]
  std::vector<double> advantages;       // [sequences]
  PolicyLossConfig loss;

  int groups, group_size, prompt, sampled, repeats;  // generation: groups share a prompt
  std::vector<std::int32_t> prompts;                 // [groups, prompt]
};

// The starter's shape with random weights large enough that attention, gates and the distribution over tokens are far
// from trivial.
ModelConfig workload_model();
Workload make_workload(int vocabulary, const WorkloadSize&);

// Writes workload.json and a Hugging Face model folder for the other side.
void write_workload(const Workload&, Network&, const std::filesystem::path& folder);

// Consecutive sequences [first, first + count).
PackedBatch training_batch(const Workload&, int first, int count);

}  // namespace starpo
