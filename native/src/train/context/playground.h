#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "config/run_config.h"
#include "env/environment.h"
#include "rollout/episode_player.h"
#include "rollout/prompt.h"
#include "tokenizer/tokenizer.h"

namespace starpo {

// What a configuration's episodes are played with, whoever chooses the tokens.
struct Playground {
  // The configuration must outlive it. Errors: those of the tokenizer's loader, tokenizer_token_missing,
  // config_invalid.
  Playground(const RunConfig&, const std::filesystem::path& model_folder);
  Playground(const Playground&) = delete;  // the rules point into it
  Playground& operator=(const Playground&) = delete;

  Tokenizer tokenizer;
  ChatFormat chat;
  std::vector<std::unique_ptr<Environment>> prototypes;  // by environment, as the rules
  std::vector<EpisodeRules> rules;
};

}  // namespace starpo
