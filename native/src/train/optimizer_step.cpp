#include "train/optimizer_step.h"

#include <cmath>
#include <string>

#include "base/error.h"
#include "train/learning_rate.h"

namespace starpo {
namespace {

AdamWSettings settings(const OptimizerConfig& config, double learning_rate, double gradient_clip) {
  return {static_cast<float>(learning_rate), static_cast<float>(config.beta1),        static_cast<float>(config.beta2),
          static_cast<float>(config.epsilon), static_cast<float>(config.weight_decay), static_cast<float>(gradient_clip)};
}

// whose: "" or "the critic's ", section: the configuration's that holds its learning rate.
void check(double norm, std::span<const float> weights, std::int64_t steps, const std::string& whose, const std::string& section) {
  const std::string hint = "lower " + section + ".learning_rate or " + section + ".gradient_clip and go on from the last checkpoint";
  if (!std::isfinite(norm)) throw Error("non_finite_gradient", "the gradient of " + whose + "optimiser step " + std::to_string(steps + 1) + " is not finite", hint);
  for (float weight : weights)
    if (!std::isfinite(weight)) throw Error("non_finite_weight", "a weight is not finite after " + whose + "optimiser step " + std::to_string(steps), hint);
}

}  // namespace

double optimizer_step(TrainerState& state, int iteration, std::span<const float> gradients) {
  const OptimizerConfig& config = state.config.optimizer;
  const auto wanted = settings(config, learning_rate(state.config, iteration, state.optimizer.steps), config.gradient_clip);
  const double norm = state.optimizer.step(state.model.mutable_weights(), gradients, state.decayed, wanted, state.threads);
  check(norm, state.model.weights(), state.optimizer.steps, "", "optimizer");
  state.model.weights_changed();
  return norm;
}

double critic_step(TrainerState& state, int iteration, std::span<const float> gradients) {
  Critic& critic = *state.critic;
  const CriticConfig& config = state.config.critic;
  const auto wanted = settings(state.config.optimizer, scheduled_rate(config.learning_rate, state.config, iteration, critic.optimizer.steps), config.gradient_clip);
  const double norm = critic.optimizer.step(critic.mutable_weights(), gradients, critic.decayed, wanted, state.threads);
  check(norm, critic.mutable_weights(), critic.optimizer.steps, "the critic's ", "critic");
  critic.weights_changed();
  return norm;
}

}  // namespace starpo
