#pragma once

#include <memory>
#include <span>

#include "config/run_config.h"
#include "engine/engine.h"

namespace starpo {

// What an episode is expected to score still, for every trained token: read at the input token that predicts it, so that a value knows all that was known when the
// token was chosen, and not the token.
class Critic {
 public:
  virtual ~Critic() = default;

  // Begins with the policy's weights, where it has such, and expects 0 everywhere.
  virtual void start_from(Network& policy) = 0;

  virtual Trainable& trained() = 0;

  // Whether forward reads the policy's features: then the pass must have gone over the same batch just before.
  virtual bool reads_policy() const = 0;
  virtual void forward(const PackedBatch&, const NetworkPass& policy, std::span<float> values) = 0;  // values: [targets]
  // Adds d(loss)/d(weights). However a mini-batch is split over batches, in order, no bit changes.
  virtual void backward(std::span<const float> value_gradients) = 0;
};

// Null for CriticModel::none. model: the policy's shape.
std::unique_ptr<Critic> make_critic(CriticModel, Engine&, const ModelConfig& model, ThreadPool&);

}  // namespace starpo
