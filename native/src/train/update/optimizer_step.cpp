#include "train/update/optimizer_step.h"

#include <cmath>
#include <string>

#include "base/error.h"
#include "train/update/learning_rate.h"

namespace starpo {
namespace {

AdamWSettings settings(const OptimizerConfig& config, double learning_rate, double gradient_clip) {
  return {static_cast<float>(learning_rate), static_cast<float>(config.beta1),        static_cast<float>(config.beta2),
          static_cast<float>(config.epsilon), static_cast<float>(config.weight_decay), static_cast<float>(gradient_clip)};
}

// One step, which must leave finite weights. whose: "" or "the critic's ", section: the configuration's that holds its learning rate.
double step(Trainable& parameters, const AdamWSettings& settings, const std::string& whose, const std::string& section) {
  const std::string hint = "lower " + section + ".learning_rate or " + section + ".gradient_clip and go on from the last checkpoint";
  const auto [norm, finite_weights] = parameters.step(settings);
  if (!std::isfinite(norm))
    throw Error("non_finite_gradient", "the gradient of " + whose + "optimiser step " + std::to_string(parameters.steps() + 1) + " is not finite", hint);
  if (!finite_weights) throw Error("non_finite_weight", "a weight is not finite after " + whose + "optimiser step " + std::to_string(parameters.steps()), hint);
  return norm;
}

}  // namespace

double optimizer_step(TrainerState& state, int iteration) {
  const OptimizerConfig& config = state.config.optimizer;
  Trainable& parameters = state.policy->parameters();
  return step(parameters, settings(config, learning_rate(state.config, iteration, parameters.steps()), config.gradient_clip), "", "optimizer");
}

double critic_step(TrainerState& state, int iteration) {
  const CriticConfig& config = state.config.critic;
  Trainable& parameters = state.critic->parameters();
  const double rate = scheduled_rate(config.learning_rate, state.config, iteration, parameters.steps());
  return step(parameters, settings(state.config.optimizer, rate, config.gradient_clip), "the critic's ", "critic");
}

}  // namespace starpo
