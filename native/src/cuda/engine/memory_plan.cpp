#include "cuda/engine/memory_plan.h"

#include <algorithm>

#include "cuda/engine/generator_buffers.h"
#include "cuda/engine/training_buffers.h"

namespace starpo::cuda {
namespace {

template <class T>
std::int64_t pass_bytes(const EngineNeeds& needs) {
  if (needs.pass_tokens == 0) return 0;
  Arena arena;
  TrainingBuffers<T>(arena, needs.model, needs.pass_tokens, needs.trains_policy, needs.recompute);
  return static_cast<std::int64_t>(arena.bytes());
}

template <class T>
std::int64_t logits_bytes(const EngineNeeds& needs) {
  EngineNeeds without = needs;
  without.model.vocab_size = 8;
  return pass_bytes<T>(needs) - pass_bytes<T>(without);
}

template <class T>
std::int64_t generator_bytes(const EngineNeeds& needs) {
  if (needs.slots == 0) return 0;
  Arena arena;
  GeneratorBuffers<T>(arena, needs.model, {needs.slots, std::min(needs.groups, kMostGroupPrompts), needs.context});
  return static_cast<std::int64_t>(arena.bytes());
}

template <class T>
std::int64_t cache_bytes(const EngineNeeds& needs) {
  const std::int64_t seats = needs.slots + std::min(needs.groups, kMostGroupPrompts);
  return needs.slots == 0 ? 0 : 2 * static_cast<std::int64_t>(sizeof(T)) * seats * (needs.context + 1) * Widths(needs.model).keys * needs.model.num_hidden_layers;
}

}  // namespace

template <class T>
MemoryPlan plan_memory(const EngineNeeds& needs) {
  const auto network = [&](ModelHead head, NetworkUse use) { return static_cast<std::int64_t>(DeviceWeights<T>::bytes(ParameterLayout(needs.model, head), use)); };
  MemoryPlan plan;
  const auto add = [&](const char* name, MemoryLifetime lifetime, std::int64_t bytes) {
    if (bytes > 0) plan.parts.push_back({name, lifetime, bytes});
  };
  add("policy", MemoryLifetime::run, network(ModelHead::language, needs.trains_policy ? NetworkUse::trained : NetworkUse::read));
  if (needs.trains_critic) add("critic", MemoryLifetime::run, network(ModelHead::value, NetworkUse::trained));
  if (needs.reads_reference) add("reference", MemoryLifetime::run, network(ModelHead::language, NetworkUse::read));
  add("workspace", MemoryLifetime::run, static_cast<std::int64_t>(Matmul::kWorkspaceBytes));
  const std::int64_t cache = cache_bytes<T>(needs), logits = logits_bytes<T>(needs);
  add("kv_cache", MemoryLifetime::rollout, cache);
  add("rollout_buffers", MemoryLifetime::rollout, generator_bytes<T>(needs) - cache);
  add("activations", MemoryLifetime::update, pass_bytes<T>(needs) - logits);
  add("logits", MemoryLifetime::update, logits);
  return plan;
}

template <class T>
std::string setting_that_fits(const EngineNeeds& needs, std::int64_t free_bytes) {
  const auto fits = [&](const EngineNeeds& changed) { return plan_memory<T>(changed).total_bytes() <= free_bytes; };
  EngineNeeds changed = needs;
  for (const auto& [recompute, name] : {std::pair{needs.recompute, ""}, {Recompute::elementwise, "elementwise"}, {Recompute::block, "block"}}) {
    if (recompute < needs.recompute) continue;
    changed.recompute = recompute;
    for (changed.pass_tokens = needs.pass_tokens; changed.pass_tokens >= needs.context && changed.pass_tokens > 0; changed.pass_tokens /= 2) {
      if (!fits(changed)) continue;
      std::string hint;
      if (changed.pass_tokens != needs.pass_tokens) hint = "set optimizer.micro_batch_tokens to " + std::to_string(changed.pass_tokens);
      if (recompute != needs.recompute) hint += std::string(hint.empty() ? "set" : " and") + " optimizer.recompute to " + name;
      return hint;
    }
  }
  changed.pass_tokens = std::min(needs.pass_tokens, needs.context);
  for (changed.slots = needs.slots / 2; changed.slots > 0; changed.slots /= 2)
    if (fits(changed))
      return "set rollout.slots to " + std::to_string(changed.slots) + ", optimizer.micro_batch_tokens to " + std::to_string(changed.pass_tokens) +
             " and optimizer.recompute to block";
  return "no setting of optimizer.micro_batch_tokens, optimizer.recompute or rollout.slots would do: use a smaller model, a smaller rollout.context, critic.model none, or a GPU with more memory";
}

template MemoryPlan plan_memory<Bf16>(const EngineNeeds&);
template MemoryPlan plan_memory<float>(const EngineNeeds&);
template std::string setting_that_fits<Bf16>(const EngineNeeds&, std::int64_t);
template std::string setting_that_fits<float>(const EngineNeeds&, std::int64_t);

}  // namespace starpo::cuda
