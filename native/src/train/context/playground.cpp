#include "train/context/playground.h"

#include "model/published_files.h"

namespace starpo {

Playground::Playground(const RunConfig& config, const std::filesystem::path& model_folder)
    : tokenizer(Tokenizer::load(model_folder)), chat(tokenizer, config.rollout.think, read_stop_ids(model_folder)) {
  for (const auto& environment : config.environments) {
    prototypes.push_back(make_environment(environment.type, environment.config));
    rules.push_back({environment, config.rollout, config.reward, tokenizer, chat});
  }
  if (config.reward.program.runs()) reward_program = std::make_unique<RewardProgram>(config.reward.program);
}

}  // namespace starpo
