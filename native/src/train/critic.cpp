#include "train/critic.h"

#include <algorithm>

#include "model/value_head.h"

namespace starpo {
namespace {

class FullCritic final : public Critic {
 public:
  explicit FullCritic(const Model& policy)
      : Critic(decayed_weights(ParameterLayout(policy.layout().config(), ModelHead::value))),
        model_(policy.layout().config(), policy.threads(), policy.precision(), ModelHead::value),
        pass_(model_) {}

  void start_from(const Model& policy) override {
    for (const TensorSlot& tensor : model_.layout().tensors()) {
      if (tensor.name.starts_with("score.")) continue;
      const auto from = policy.weights().subspan(policy.layout().find(tensor.name).offset, tensor.size);
      std::copy(from.begin(), from.end(), mutable_weights().begin() + static_cast<std::ptrdiff_t>(tensor.offset));
    }
    weights_changed();
  }

  std::span<float> mutable_weights() override { return model_.mutable_weights(); }
  void weights_changed() override { model_.weights_changed(); }
  bool reads_policy() const override { return false; }
  void forward(const PackedBatch& batch, const TrainingPass&, std::span<float> values) override { pass_.forward_values(batch, values); }
  void backward(std::span<const float> value_gradients, std::span<float> gradients) override { pass_.backward_values(value_gradients, gradients); }

 private:
  Model model_;
  TrainingPass pass_;
};

std::vector<std::uint8_t> all_but_the_last(int hidden) {
  std::vector<std::uint8_t> decayed(hidden, 1);
  decayed.push_back(0);
  return decayed;
}

class HeadCritic final : public Critic {
 public:
  explicit HeadCritic(int hidden) : Critic(all_but_the_last(hidden)), head_(hidden) {}

  void start_from(const Model&) override {}
  std::span<float> mutable_weights() override { return head_.mutable_weights(); }
  void weights_changed() override { head_.weights_changed(); }
  bool reads_policy() const override { return true; }
  void forward(const PackedBatch&, const TrainingPass& policy, std::span<float> values) override { head_.forward(policy.features(), values); }
  void backward(std::span<const float> value_gradients, std::span<float> gradients) override { head_.backward(value_gradients, gradients); }

 private:
  ValueHead head_;
};

}  // namespace

std::unique_ptr<Critic> make_critic(CriticModel kind, const Model& policy) {
  if (kind == CriticModel::full) return std::make_unique<FullCritic>(policy);
  if (kind == CriticModel::head) return std::make_unique<HeadCritic>(policy.layout().config().hidden_size);
  return nullptr;
}

}  // namespace starpo
