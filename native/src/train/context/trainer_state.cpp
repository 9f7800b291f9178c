#include "train/context/trainer_state.h"

#include "base/error.h"
#include "base/processor.h"
#include "model/folder.h"
#include "model/published_files.h"
#include "train/replica/engine_needs.h"

namespace starpo {
namespace {

// Reads a model's configuration and checks it against the tokenizer and rollout.context.
ModelConfig read_checked_model_config(const std::filesystem::path& folder, const Tokenizer& tokenizer, int context) {
  const ModelConfig model = read_model_folder_config(folder);
  check_vocabulary(tokenizer, model);
  if (context > model.max_position_embeddings)
    throw Error("config_invalid",
                "rollout.context is " + std::to_string(context) + ", but the model supports at most " +
                    std::to_string(model.max_position_embeddings) + " tokens",
                "lower rollout.context");
  return model;
}

}  // namespace

int thread_count(int configured) { return configured > 0 ? configured : available_threads(); }

// A model may have more ids than its tokenizer, since vocabularies are padded.
void check_vocabulary(const Tokenizer& tokenizer, const ModelConfig& config) {
  if (tokenizer.vocab_size() > config.vocab_size)
    throw Error("model_tokenizer_mismatch",
                "the tokenizer has " + std::to_string(tokenizer.vocab_size()) + " tokens, but the model has only " +
                    std::to_string(config.vocab_size),
                "use the tokenizer.json that belongs to the model");
}

void check_start(const RunConfig& config) {
  check_engine(engine_settings(config));
  const Playground playground(config, config.start.model);
  const ModelConfig model = read_checked_model_config(config.start.model, playground.tokenizer, config.rollout.context);
  if (config.start.weights == StartWeights::load)
    check_model_folder_weights(config.start.model, ParameterLayout(model));
  if (config.kl.reference.empty()) return;
  check_reference(config, model);
  check_model_folder_weights(config.kl.reference, ParameterLayout(model));
}

void check_reference(const RunConfig& config, const ModelConfig& model) {
  if (!(read_model_folder_config(config.kl.reference) == model))
    throw Error("reference_mismatch", "the model of kl.reference has a different architecture than the run's model",
                "use a model with the same config.json, or leave kl.reference empty");
}

TrainerState::TrainerState(RunConfig run_config, const std::filesystem::path& model_folder)
    : config(std::move(run_config)),
      threads(thread_count(config.threads)),
      playground(config, model_folder),
      published_files(read_published_files(model_folder)),
      replica(config, read_checked_model_config(model_folder, playground.tokenizer, config.rollout.context), threads) {}

}  // namespace starpo
