#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "engine/load_weights.h"
#include "initial_weights.h"
#include "journal/metric_names.h"
#include "model/folder.h"
#include "repository.h"
#include "temporary_folder.h"
#include "train/checkpoint/checkpoint.h"
#include "train/context/trainer_state.h"
#include "whole_files.h"

namespace starpo::test {

// Writes a one-layer policy with random weights and the starter's tokenizer: config.json, model.safetensors, tokenizer
// files.
inline void make_tiny_model_folder(const std::filesystem::path& folder, std::uint32_t seed = 3, int vocabulary = 512) {
  const ModelConfig config{vocabulary, 64, 96, 1, 2, 1, 64, 1024, 10000.0f, 1e-6f, true};
  const ParameterLayout layout(config);
  auto weights = initial_weights(layout, seed);
  // Large embeddings, so that the policy is not uniform.
  for (float& weight : weights) weight *= 6;
  std::filesystem::create_directories(folder);
  write_model_folder(folder, layout, weights, {507});
  for (const char* name : {"tokenizer.json", "tokenizer_config.json"})
    std::filesystem::copy_file(repository() / "resources/starter" / name, folder / name,
                               std::filesystem::copy_options::overwrite_existing);
}

// Returns a smaller version of docs/formats/examples/run.json.
inline RunConfig small_run_config() {
  RunConfig config = read_run_config(repository() / "docs/formats/examples/run.json");
  config.threads = 1;
  config.rollout.groups = 3;
  config.rollout.group_size = 4;
  config.rollout.max_response_tokens = 12;
  config.rollout.context = 300;
  config.policy_loss.mini_batch = 4;
  config.filter.strategy = FilterStrategy::none;
  return config;
}

inline std::unique_ptr<TrainerState> tiny_state(const RunConfig& config, const std::filesystem::path& folder) {
  auto state = std::make_unique<TrainerState>(config, folder);
  load_weights(folder, *state->replica.policy);
  return state;
}

// Returns the parts of a state for a checkpoint.
inline CheckpointParts parts_of(TrainerState& state) {
  return {state.config, state.replica, state.playground.chat.stop_ids(), state.published_files};
}

// Returns whether an `iteration` event may contain this metric: it is listed, or belongs to a listed family.
inline bool is_iteration_metric(std::string_view name) {
  return std::ranges::any_of(metric::kIterationMetrics, [&](const metric::Description& listed) {
    return listed.name.ends_with('>') ? name.starts_with(listed.name.substr(0, listed.name.find('<')))
                                      : name == listed.name;
  });
}

inline std::vector<float> state_of(Trainable& trainable, StateVector which = StateVector::weights) {
  return read_state(trainable, which);
}

// Changes one number of a state vector.
inline void change(Trainable& trainable, StateVector which, std::size_t index, float value) {
  trainable.write(which, index, {&value, 1});
}

}  // namespace starpo::test
