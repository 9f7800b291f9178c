#include "train/update/critic.h"

#include <algorithm>

#include "engine/cpu/cpu_trainable.h"
#include "engine/cpu/value_head.h"

namespace starpo {
namespace {

class FullCritic final : public Critic {
 public:
  FullCritic(Engine& engine, const ModelConfig& model) : network_(engine.make_network(model, ModelHead::value, NetworkUse::trained)), pass_(network_->make_pass()) {}

  void start_from(Network& policy) override {
    std::vector<float> from(policy.layout().size()), to(network_->layout().size());
    policy.parameters().read(StateVector::weights, from);
    for (const TensorSlot& tensor : network_->layout().tensors()) {
      if (tensor.name.starts_with("score.")) continue;
      const auto first = from.begin() + static_cast<std::ptrdiff_t>(policy.layout().find(tensor.name).offset);
      std::copy_n(first, tensor.size, to.begin() + static_cast<std::ptrdiff_t>(tensor.offset));
    }
    network_->parameters().write(StateVector::weights, to);
  }

  Trainable& parameters() override { return network_->parameters(); }
  bool reads_policy() const override { return false; }
  void forward(const PackedBatch& batch, const NetworkPass&, std::span<float> values) override { pass_->forward_values(batch, values); }
  void backward(std::span<const float> value_gradients) override { pass_->backward_values(value_gradients); }

 private:
  std::unique_ptr<Network> network_;
  std::unique_ptr<NetworkPass> pass_;
};

std::vector<std::uint8_t> all_but_the_last(int hidden) {
  std::vector<std::uint8_t> decayed(hidden, 1);
  decayed.push_back(0);
  return decayed;
}

// Its single layer is small enough for the processor, wherever the policy is.
class HeadCritic final : public Critic {
 public:
  HeadCritic(int hidden, ThreadPool& threads)
      : head_(hidden), parameters_(head_.mutable_weights(), all_but_the_last(hidden), threads, [this] { head_.weights_changed(); }) {}

  void start_from(Network&) override {}
  Trainable& parameters() override { return parameters_; }
  bool reads_policy() const override { return true; }
  void forward(const PackedBatch&, const NetworkPass& policy, std::span<float> values) override { head_.forward(policy.features(), values); }
  void backward(std::span<const float> value_gradients) override { head_.backward(value_gradients, parameters_.gradients()); }

 private:
  ValueHead head_;
  CpuTrainable parameters_;
};

}  // namespace

std::unique_ptr<Critic> make_critic(CriticModel kind, Engine& engine, const ModelConfig& model, ThreadPool& threads) {
  if (kind == CriticModel::full) return std::make_unique<FullCritic>(engine, model);
  if (kind == CriticModel::head) return std::make_unique<HeadCritic>(model.hidden_size, threads);
  return nullptr;
}

}  // namespace starpo
