#include "train/replica/replica.h"

#include <algorithm>

#include "train/replica/engine_needs.h"

namespace starpo {

Replica::Replica(const RunConfig& config, const ModelConfig& model, ThreadPool& threads) : engine(make_engine(engine_settings(config), threads)), needs(engine_needs(config, model)) {
  micro_batch_tokens = config.optimizer.micro_batch_tokens > 0 ? config.optimizer.micro_batch_tokens : engine->suitable_pass_tokens(needs);
  needs.pass_tokens = std::max(micro_batch_tokens, needs.context);
  memory_plan = engine->reserve(needs);

  policy = engine->make_network(model, ModelHead::language, NetworkUse::trained);
  policy_pass = policy->make_pass();
  generator = policy->make_generator(needs.slots, needs.context);
  if (config.task == Task::reinforce) critic = make_critic(config.critic.model, *engine, model, threads);
  if (needs.reads_reference) {
    reference = engine->make_network(model, ModelHead::language, NetworkUse::read);
    reference_pass = reference->make_pass();
  }
  if (needs.reads_start) {
    start = engine->make_network(model, ModelHead::language, NetworkUse::read);
    start_pass = start->make_pass();
  }
}

}  // namespace starpo
