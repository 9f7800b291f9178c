#include "engine/cuda/engine/memory_plan.h"

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
  EngineNeeds small_vocabulary = needs;
  small_vocabulary.model.vocab_size = 8;
  return pass_bytes<T>(needs) - pass_bytes<T>(small_vocabulary);
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
  return static_cast<std::int64_t>(2 * sizeof(T) * needs.model.num_hidden_layers *
                                   planned_shape(needs).cache_size(Widths(needs.model)));
}

}  // namespace

template <class T>
MemoryPlan plan_memory(const EngineNeeds& needs) {
  const auto network = [&](ModelHead head, NetworkUse use) {
    return static_cast<std::int64_t>(DeviceWeights<T>::bytes(ParameterLayout(needs.model, head), use));
  };
  MemoryPlan plan;
  const auto add = [&](const char* name, MemoryLifetime lifetime, std::int64_t bytes) {
    if (bytes > 0) plan.parts.push_back({name, lifetime, bytes});
  };
  add("policy", MemoryLifetime::run,
      network(ModelHead::language, needs.trains_policy ? NetworkUse::trained : NetworkUse::read));
  if (needs.trains_critic) add("critic", MemoryLifetime::run, network(ModelHead::value, NetworkUse::trained));
  if (needs.reads_reference) add("reference", MemoryLifetime::run, network(ModelHead::language, NetworkUse::read));
  if (needs.reads_start) add("start", MemoryLifetime::run, network(ModelHead::language, NetworkUse::read));
  add("workspace", MemoryLifetime::run, static_cast<std::int64_t>(Matmul::kWorkspaceBytes));
  const std::int64_t cache = cache_bytes<T>(needs), logits = logits_bytes<T>(needs);
  add("kv_cache", MemoryLifetime::rollout, cache);
  add("rollout_buffers", MemoryLifetime::rollout, generator_bytes<T>(needs) - cache);
  add("activations", MemoryLifetime::update, pass_bytes<T>(needs) - logits);
  add("logits", MemoryLifetime::update, logits);
  return plan;
}

template MemoryPlan plan_memory<Bf16>(const EngineNeeds&);
template MemoryPlan plan_memory<float>(const EngineNeeds&);

}  // namespace starpo::cuda
