#include "train/replica/engine_needs.h"

#include <algorithm>

namespace starpo {
namespace {

// Returns whether a run keeps a copy of its start weights to measure drift. Not needed if the KL reference is the
// start.
bool keeps_start(const RunConfig& config) {
  const bool reference_is_start = config.kl.coefficient > 0 && config.kl.reference.empty();
  return config.task == Task::reinforce && config.diagnostics.every > 0 && !reference_is_start;
}

// Returns the number of generator slots: at most the number of episodes played together.
int generator_slots(const RunConfig& config) {
  const int training = config.task == Task::reinforce ? config.rollout.groups * config.rollout.group_size : 0;
  return std::min(config.rollout.slots, std::max(training, config.evaluation.levels));
}

}  // namespace

EngineSettings engine_settings(const RunConfig& config) {
  return {config.device, precision_from_name(config.precision), config.exactness};
}

EngineNeeds engine_needs(const RunConfig& config, const ModelConfig& model) {
  const bool reinforces = config.task == Task::reinforce;
  EngineNeeds needs{.model = model};
  needs.trains_policy = true;
  needs.trains_critic = reinforces && config.critic.model == CriticModel::full;
  needs.reads_reference = reinforces && config.kl.coefficient > 0;
  needs.reads_start = keeps_start(config);
  needs.slots = generator_slots(config);
  needs.groups = reinforces ? config.rollout.groups : 0;
  needs.context = config.rollout.context;
  needs.pass_tokens = std::max(config.optimizer.micro_batch_tokens, config.rollout.context);
  needs.recompute = config.optimizer.recompute;
  return needs;
}

}  // namespace starpo
