#include "train/trainer_state.h"

#include <algorithm>
#include <thread>

#include "base/error.h"
#include "model/folder.h"
#include "model/published_files.h"

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
      model(read_model_folder_config(model_folder), threads, precision_from_name(config.precision)),
      optimizer(model.layout().size()),
      decayed(decayed_weights(model.layout())) {
  check_vocabulary(tokenizer, model.layout().config());
  if (config.rollout.context > model.layout().config().max_position_embeddings)
    throw Error("config_invalid",
                "rollout.context is " + std::to_string(config.rollout.context) + " but the model reads at most " +
                    std::to_string(model.layout().config().max_position_embeddings) + " tokens",
                "lower rollout.context");

  if (config.task == Task::reinforce) {
    critic = make_critic(config.critic.model, model);
    if (config.kl.coefficient > 0) reference = std::make_unique<Model>(model.layout().config(), threads, model.precision());
  }
  for (const auto& environment : config.environments) {
    prototypes.push_back(make_environment(environment.type, environment.config));
    rules.push_back({environment, config.rollout, config.reward, tokenizer, chat});
  }
}

}  // namespace starpo
