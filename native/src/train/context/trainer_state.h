#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/thread_pool.h"
#include "config/run_config.h"
#include "train/context/playground.h"
#include "train/replica/replica.h"

namespace starpo {

// A configuration's `threads`: 0 means one for each core.
int thread_count(int configured);

// Errors: model_tokenizer_mismatch.
void check_vocabulary(const Tokenizer&, const ModelConfig&);

// All that lives as long as a run's process. Its owner alone sees it whole and hands out parts.
struct TrainerState {
  // Loads configuration, tokenizer and the shape of the model from `model_folder`; the networks' weights are loaded by
  // the caller. Errors: those of the loaders and of Replica, model_tokenizer_mismatch, config_invalid.
  TrainerState(RunConfig, const std::filesystem::path& model_folder);

  const RunConfig config;
  ThreadPool threads;
  Playground playground;
  std::map<std::string, std::string>
      published_files;  // the model folder's, by name, for checkpoints: it may go while the run goes on
  Replica replica;
};

}  // namespace starpo
