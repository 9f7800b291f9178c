#include "train/optimizer_step.h"

#include <cmath>

#include "base/error.h"
#include "train/learning_rate.h"

namespace starpo {

double optimizer_step(TrainerState& state, int iteration, std::span<const float> gradients) {
  const OptimizerConfig& config = state.config.optimizer;
  const AdamWSettings settings{static_cast<float>(learning_rate(state.config, iteration, state.optimizer.steps)),
                               static_cast<float>(config.beta1),
                               static_cast<float>(config.beta2),
                               static_cast<float>(config.epsilon),
                               static_cast<float>(config.weight_decay),
                               static_cast<float>(config.gradient_clip)};
  const double norm = state.optimizer.step(state.model.mutable_weights(), gradients, state.decayed, settings, state.threads);
  const char* hint = "lower optimizer.learning_rate or optimizer.gradient_clip and go on from the last checkpoint";
  if (!std::isfinite(norm)) throw Error("non_finite_gradient", "the gradient of optimiser step " + std::to_string(state.optimizer.steps + 1) + " is not finite", hint);
  for (float weight : state.model.weights())
    if (!std::isfinite(weight)) throw Error("non_finite_weight", "a weight is not finite after optimiser step " + std::to_string(state.optimizer.steps), hint);
  state.model.weights_changed();
  return norm;
}

}  // namespace starpo
