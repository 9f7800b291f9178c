#include "train/run/trainer_state.h"

#include <algorithm>
#include <thread>

#include "base/error.h"
#include "model/folder.h"
#include "model/published_files.h"
#include "train/diagnostics/diagnostics.h"
#include "train/run/engine_needs.h"

namespace starpo {

int thread_count(int configured) { return configured > 0 ? configured : std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

// A model may know more ids than its tokenizer, since vocabularies are padded.
void check_vocabulary(const Tokenizer& tokenizer, const ModelConfig& config) {
  if (tokenizer.vocab_size() > config.vocab_size)
    throw Error("model_tokenizer_mismatch",
                "the tokenizer has " + std::to_string(tokenizer.vocab_size()) + " tokens but the model only " + std::to_string(config.vocab_size),
                "use the tokenizer.json that belongs to the model");
}

TrainerState::TrainerState(RunConfig run_config, const std::filesystem::path& model_folder)
    : config(std::move(run_config)),
      threads(thread_count(config.threads)),
      tokenizer(Tokenizer::load(model_folder)),
      published_files(read_published_files(model_folder)),
      chat(tokenizer, config.rollout.think, read_stop_ids(model_folder)),
      engine(make_engine(engine_settings(config), threads)) {
  const ModelConfig model = read_model_folder_config(model_folder);
  check_vocabulary(tokenizer, model);
  if (config.rollout.context > model.max_position_embeddings)
    throw Error("config_invalid",
                "rollout.context is " + std::to_string(config.rollout.context) + " but the model reads at most " +
                    std::to_string(model.max_position_embeddings) + " tokens",
                "lower rollout.context");

  if (config.optimizer.micro_batch_tokens == 0) config.optimizer.micro_batch_tokens = engine->suitable_pass_tokens(engine_needs(config, model));
  memory_plan = engine->reserve(engine_needs(config, model));
  policy = engine->make_network(model, ModelHead::language, NetworkUse::trained);
  if (config.task == Task::reinforce) {
    critic = make_critic(config.critic.model, *engine, model, threads);
    if (config.kl.coefficient > 0) reference = engine->make_network(model, ModelHead::language, NetworkUse::read);
  }
  if (keeps_start(config)) start = engine->make_network(model, ModelHead::language, NetworkUse::read);
  for (const auto& environment : config.environments) {
    prototypes.push_back(make_environment(environment.type, environment.config));
    rules.push_back({environment, config.rollout, config.reward, tokenizer, chat});
  }
}

}  // namespace starpo
