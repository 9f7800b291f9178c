#include "train/replica/replica.h"

#include <algorithm>
#include <vector>

#include "engine/load_weights.h"
#include "train/replica/engine_needs.h"

namespace starpo {
namespace {

class FullCritic final : public Critic {
 public:
  FullCritic(Engine& engine, const ModelConfig& model)
      : network_(engine.make_network(model, ModelHead::value, NetworkUse::trained)), pass_(network_->make_pass()) {}

  void initialize_from(Network& policy) override {
    copy_weights(policy, *network_);
    for (const TensorSlot& tensor : network_->layout().tensors())
      if (tensor.name.starts_with("score.")) network_->write_weights(tensor.offset, std::vector<float>(tensor.size));
  }

  Trainable& trained() override { return network_->trained(); }
  bool reads_policy() const override { return false; }
  void forward(const PackedBatch& batch, const NetworkPass&, std::span<float> values) override {
    pass_->forward_values(batch, values);
  }
  void backward(std::span<const float> value_gradients) override { pass_->backward_values(value_gradients); }

 private:
  std::unique_ptr<Network> network_;
  std::unique_ptr<NetworkPass> pass_;
};

class HeadCritic final : public Critic {
 public:
  HeadCritic(int hidden, ThreadPool& threads) : head_(make_value_head(hidden, threads)) {}

  void initialize_from(Network&) override {}
  Trainable& trained() override { return head_->trained(); }
  bool reads_policy() const override { return true; }
  void forward(const PackedBatch&, const NetworkPass& policy, std::span<float> values) override {
    head_->forward(policy.features(), values);
  }
  void backward(std::span<const float> value_gradients) override { head_->backward(value_gradients); }

 private:
  std::unique_ptr<ValueHead> head_;
};

// Returns null for CriticModel::none. model: architecture of the policy.
std::unique_ptr<Critic> make_critic(CriticModel kind, Engine& engine, const ModelConfig& model, ThreadPool& threads) {
  if (kind == CriticModel::full) return std::make_unique<FullCritic>(engine, model);
  if (kind == CriticModel::head) return std::make_unique<HeadCritic>(model.hidden_size, threads);
  return nullptr;
}

}  // namespace

Replica::Replica(const RunConfig& config, const ModelConfig& model, ThreadPool& threads)
    : engine(make_engine(engine_settings(config), threads)), needs(engine_needs(config, model)) {
  micro_batch_tokens = config.optimizer.micro_batch_tokens > 0 ? config.optimizer.micro_batch_tokens
                                                               : engine->default_pass_tokens(needs);
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
