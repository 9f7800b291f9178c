#include "train/context/playground.h"

#include "base/error.h"
#include "model/published_files.h"

namespace starpo {

Playground::Playground(const RunConfig& config, const std::filesystem::path& model_folder)
    : tokenizer(Tokenizer::load(model_folder)), chat(tokenizer, config.rollout.think, read_stop_ids(model_folder)) {
  for (const auto& environment : config.environments) {
    prototypes.push_back(make_environment(environment.type, environment.config));
    if (!environment.files_sha256.empty() && prototypes.back()->files_digest() != environment.files_sha256)
      throw Error("environment_changed",
                  "the files of the environment " + environment.label +
                      " have changed since this run was created: their digest differs from its files_sha256",
                  "restore the files, or create a new run with an empty files_sha256");
    rules.push_back({environment, config.rollout, config.reward, tokenizer, chat});
  }
  if (config.reward.program.runs()) reward_program = std::make_unique<RewardProgram>(config.reward.program);
}

}  // namespace starpo
