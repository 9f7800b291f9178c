#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "config/run_config.h"
#include "model/training_pass.h"
#include "optimizer/adamw.h"

namespace starpo {

// What an episode is expected to score still, for every trained token: read at the input token that predicts it, so that a value knows all that was known when the
// token was chosen, and not the token.
class Critic {
 public:
  virtual ~Critic() = default;

  // Begins with the policy's weights, where it has such, and expects 0 everywhere.
  virtual void start_from(const Model& policy) = 0;

  virtual std::span<float> mutable_weights() = 0;  // flat; weights_changed() after writing
  virtual void weights_changed() = 0;

  // Whether forward reads the policy's features: then the pass must have gone forward over the same batch just before.
  virtual bool reads_policy() const = 0;
  virtual void forward(const PackedBatch&, const TrainingPass& policy, std::span<float> values) = 0;  // values: [targets]
  // Adds d(loss)/d(weights). However a mini-batch is split over batches, in order, no bit changes.
  virtual void backward(std::span<const float> value_gradients, std::span<float> gradients) = 0;

  AdamW optimizer;
  std::vector<std::uint8_t> decayed;  // [weights] 1 where weight decay applies

 protected:
  explicit Critic(std::vector<std::uint8_t> decayed_weights) : optimizer(decayed_weights.size()), decayed(std::move(decayed_weights)) {}
};

// Null for CriticModel::none. The policy must outlive a critic that reads it.
std::unique_ptr<Critic> make_critic(CriticModel, const Model& policy);

}  // namespace starpo
