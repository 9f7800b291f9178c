#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/thread_pool.h"
#include "config/run_config.h"
#include "train/context/playground.h"
#include "train/replica/replica.h"

namespace starpo {

// Resolves the `threads` setting: 0 uses all cores.
int thread_count(int configured);

// Throws model_tokenizer_mismatch if the tokenizer has more ids than the model.
void check_vocabulary(const Tokenizer&, const ModelConfig&);

// Throws reference_mismatch if the model of kl.reference has another architecture than the run's model.
void check_reference(const RunConfig&, const ModelConfig&);

// Checks that a run with this configuration can start on this machine: its device and precision, model folder, context
// and reference model, but not the values of the weights. Errors: those of check_engine, Playground and the
// loaders, model_tokenizer_mismatch, config_invalid, reference_mismatch.
void check_start(const RunConfig&);

// Everything that lives as long as a training process. The owner passes parts to other functions.
struct TrainerState {
  // Loads the tokenizer and model configuration from `model_folder`. The caller loads the weights. Throws the errors of
  // Playground, the loaders and Replica, model_tokenizer_mismatch and config_invalid.
  TrainerState(RunConfig, const std::filesystem::path& model_folder);

  const RunConfig config;
  ThreadPool threads;
  Playground playground;
  // Files of the model folder by name, for checkpoints: the folder may be deleted during the run.
  std::map<std::string, std::string> published_files;
  Replica replica;
};

}  // namespace starpo
