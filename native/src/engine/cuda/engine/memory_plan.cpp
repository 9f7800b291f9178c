#include "engine/cuda/engine/memory_plan.h"

#include <algorithm>
#include <array>

#include "engine/cuda/engine/generator_buffers.h"
#include "engine/cuda/engine/training_buffers.h"

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
  GeneratorBuffers<T>(arena, needs.model, planned_shape(needs));
  return static_cast<std::int64_t>(arena.bytes());
}

template <class T>
std::int64_t cache_bytes(const EngineNeeds& needs) {
  if (needs.slots == 0) return 0;
  return static_cast<std::int64_t>(2 * sizeof(T) * needs.model.num_hidden_layers * planned_shape(needs).cache_size(Widths(needs.model)));
}

// The settings in which `changed` is not what is needed, as something to do.
std::string said(const EngineNeeds& needs, const EngineNeeds& changed, const std::string& recompute) {
  std::vector<std::string> settings;
  if (changed.slots != needs.slots) settings.push_back("rollout.slots to " + std::to_string(changed.slots));
  if (changed.pass_tokens != needs.pass_tokens) settings.push_back("optimizer.micro_batch_tokens to " + std::to_string(changed.pass_tokens));
  if (changed.recompute != needs.recompute) settings.push_back("optimizer.recompute to " + recompute);
  std::string text;
  for (std::size_t i = 0; i < settings.size(); ++i) text += (i == 0 ? "set " : i + 1 == settings.size() ? " and " : ", ") + settings[i];
  return text;
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
  constexpr std::array<const char*, 3> recompute_names{"none", "elementwise", "block"};
  EngineNeeds changed = needs;
  for (changed.slots = needs.slots;; changed.slots /= 2) {
    for (int recompute = static_cast<int>(needs.recompute); recompute < static_cast<int>(recompute_names.size()); ++recompute) {
      changed.recompute = static_cast<Recompute>(recompute);
      for (changed.pass_tokens = needs.pass_tokens;; changed.pass_tokens /= 2) {
        if (plan_memory<T>(changed).total_bytes() <= free_bytes) return said(needs, changed, recompute_names[recompute]);
        if (changed.pass_tokens / 2 < std::max(needs.context, 1)) break;
      }
    }
    if (changed.slots <= 1) break;
  }
  return "no setting of optimizer.micro_batch_tokens, optimizer.recompute or rollout.slots would do: use a smaller model, a smaller rollout.context, critic.model none, or a GPU with more memory";
}

template MemoryPlan plan_memory<Bf16>(const EngineNeeds&);
template MemoryPlan plan_memory<float>(const EngineNeeds&);
template std::string setting_that_fits<Bf16>(const EngineNeeds&, std::int64_t);
template std::string setting_that_fits<float>(const EngineNeeds&, std::int64_t);

}  // namespace starpo::cuda
