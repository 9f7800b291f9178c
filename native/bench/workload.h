#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "algorithm/objectives.h"
#include "engine/network.h"

namespace starpo {

// The size of a comparison. The defaults are those of the starter.
struct WorkloadSize {
  int sequences = 64, length = 256, first_target = 64, steps = 3;
  int groups = 8, group_size = 16, prompt = 64, sampled = 192, repeats = 3;
};

// The work that both sides of a comparison compute: an optimizer step on a mini-batch, and the tokens of a rollout.
struct Workload {
  // Training: sequences of `length` tokens. Tokens from first_target on are targets.
  int sequences, length, first_target, steps;
  std::vector<std::int32_t> tokens;     // [sequences, length]
  std::vector<float> rollout_logprobs;  // [sequences, length - first_target]
  std::vector<double> advantages;       // [sequences]
  PolicyLossConfig loss;

  // Generation: the sequences of a group share a prompt.
  int groups, group_size, prompt, sampled, repeats;
  std::vector<std::int32_t> prompts;  // [groups, prompt]
};

// Returns the shape of the starter.
ModelConfig workload_model();
Workload make_workload(int vocabulary, const WorkloadSize&);

// Writes workload.json and a Hugging Face model folder for the other program.
void write_workload(const Workload&, Network&, const std::filesystem::path& folder);

// Returns the sequences [first, first + count).
PackedBatch training_batch(const Workload&, int first, int count);

}  // namespace starpo
