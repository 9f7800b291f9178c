#include "train/update/optimizer_step.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/reproducible_math.h"

namespace starpo {
namespace {

AdamWSettings settings(const OptimizerConfig& config, double learning_rate, double gradient_clip) {
  return {static_cast<float>(learning_rate),       static_cast<float>(config.beta1),
          static_cast<float>(config.beta2),        static_cast<float>(config.epsilon),
          static_cast<float>(config.weight_decay), static_cast<float>(gradient_clip)};
}

// Returns `rate` with the warm-up and schedule of learning_rate().
double scheduled_rate(double rate, const RunConfig& config, int iteration, std::int64_t steps_done) {
  const OptimizerConfig& optimizer = config.optimizer;
  const double warmup = std::min(1.0, static_cast<double>(steps_done + 1) / (optimizer.warmup + 1));
  const double progress = static_cast<double>(iteration - 1) / config.iterations;
  double factor = 1;
  if (optimizer.schedule == LearningRateSchedule::linear) factor = 1 - progress;
  if (optimizer.schedule == LearningRateSchedule::cosine)
    factor = 0.5 * (1 + reproducible_cos(3.14159265358979323846 * progress));
  return rate * warmup * factor;
}

// Applies one step and checks that weights stay finite. whose: "" or "the critic's "; section: configuration section of
// the learning rate.
double step(Trainable& trained, const AdamWSettings& settings, const std::string& whose, const std::string& section) {
  const std::string hint = "fork the run from its last checkpoint with a lower " + section + ".learning_rate or " +
                           section + ".gradient_clip (0 turns clipping off)";
  const OptimizerStep done = take_step(trained, settings);
  if (!std::isfinite(done.gradient_norm))
    throw Error("non_finite_gradient",
                "the gradient of " + whose + "optimizer step " + std::to_string(trained.steps() + 1) + " is not finite",
                hint);
  if (!done.finite_weights)
    throw Error("non_finite_weight",
                "a weight is not finite after " + whose + "optimizer step " + std::to_string(trained.steps()), hint);
  return done.gradient_norm;
}

}  // namespace

double learning_rate(const RunConfig& config, int iteration, std::int64_t steps_done) {
  return scheduled_rate(config.optimizer.learning_rate, config, iteration, steps_done);
}

double optimizer_step(const RunConfig& config, Trainable& policy, int iteration) {
  const double rate = learning_rate(config, iteration, policy.steps());
  return step(policy, settings(config.optimizer, rate, config.optimizer.gradient_clip), "", "optimizer");
}

double critic_step(const RunConfig& config, Trainable& critic, int iteration) {
  const double rate = scheduled_rate(config.critic.learning_rate, config, iteration, critic.steps());
  return step(critic, settings(config.optimizer, rate, config.critic.gradient_clip), "the critic's ", "critic");
}

}  // namespace starpo
