#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "engine/engine.h"
#include "env/environment.h"
#include "rollout/episode_player.h"
#include "rollout/prompt.h"
#include "tokenizer/tokenizer.h"
#include "train/update/critic.h"

namespace starpo {

// A configuration's `threads`: 0 means one for each core.
int thread_count(int configured);

// Errors: model_tokenizer_mismatch.
void check_vocabulary(const Tokenizer&, const ModelConfig&);

// All that lives as long as a run's process: configuration, environments, device, policy, critic.
struct TrainerState {
  // Loads configuration, tokenizer and the shape of the model from `model_folder`; weights of policy, critic and reference are loaded by the caller.
  // Errors: those of the loaders, model_tokenizer_mismatch, and precision_unsupported.
  TrainerState(RunConfig, const std::filesystem::path& model_folder);

  RunConfig config;
  ThreadPool threads;
  Tokenizer tokenizer;
  std::map<std::string, std::string> published_files;  // the model folder's, by name, for checkpoints: it may go while the run goes on
  ChatFormat chat;
  std::unique_ptr<Engine> engine;
  MemoryPlan memory_plan;
  std::unique_ptr<Network> policy;
  std::unique_ptr<Critic> critic;      // null without one
  std::unique_ptr<Network> reference;  // null without a KL term
  std::unique_ptr<Network> start;      // the weights that the run began with; null where nothing asks for them, or the reference is just that
  std::vector<std::unique_ptr<Environment>> prototypes;
  std::vector<EpisodeRules> rules;
};

}  // namespace starpo
