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
double step(Trainable& trained, const AdamWSettings& settings, const std::string& whose, const std::string& section) {
  const std::string hint = "lower " + section + ".learning_rate or " + section + ".gradient_clip and go on from the last checkpoint";
  const double squared_norms[] = {trained.squared_norm()};  // of the one replica there is
  const float norm = reduced_norm(squared_norms);
  if (!std::isfinite(norm))
    throw Error("non_finite_gradient", "the gradient of " + whose + "optimiser step " + std::to_string(trained.steps() + 1) + " is not finite", hint);
  if (!trained.apply(settings, clip_scale(norm, settings.gradient_clip)))
    throw Error("non_finite_weight", "a weight is not finite after " + whose + "optimiser step " + std::to_string(trained.steps()), hint);
  return norm;
}

}  // namespace

double optimizer_step(TrainerState& state, int iteration) {
  const OptimizerConfig& config = state.config.optimizer;
  Trainable& trained = state.policy->trained();
  return step(trained, settings(config, learning_rate(state.config, iteration, trained.steps()), config.gradient_clip), "", "optimizer");
}

double critic_step(TrainerState& state, int iteration) {
  const CriticConfig& config = state.config.critic;
  Trainable& trained = state.critic->trained();
  const double rate = scheduled_rate(config.learning_rate, state.config, iteration, trained.steps());
  return step(trained, settings(state.config.optimizer, rate, config.gradient_clip), "the critic's ", "critic");
}

}  // namespace starpo
