#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "config/run_config.h"
#include "env/environment.h"
#include "rollout/episode_player.h"
#include "rollout/prompt.h"
#include "rollout/reward_program.h"
#include "tokenizer/tokenizer.h"

namespace starpo {

// Tokenizer, chat format, environments and rules to play a configuration's episodes.
struct Playground {
  // The configuration must outlive this object. Throws the errors of Tokenizer::load, ChatFormat,
  // read_stop_ids and make_environment, and environment_changed.
  Playground(const RunConfig&, const std::filesystem::path& model_folder);
  Playground(const Playground&) = delete;  // the rules point into it
  Playground& operator=(const Playground&) = delete;

  Tokenizer tokenizer;
  ChatFormat chat;
  std::vector<std::unique_ptr<Environment>> prototypes;  // per environment
  std::vector<EpisodeRules> rules;                       // per environment
  std::unique_ptr<RewardProgram> reward_program;         // null: none
};

}  // namespace starpo
