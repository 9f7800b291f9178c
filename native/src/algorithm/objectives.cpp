#include "algorithm/objectives.h"

#include <numeric>

#include "algorithm/statistics.h"

namespace starpo {
namespace {

template <class Real>
void add_policy_loss(std::span<const Real> logprobs, std::span<const Real> entropies,
                     std::span<const Real> rollout_logprobs, std::span<const double> advantages, double weight,
                     const PolicyLossConfig& settings, PolicyLossSums& sums, std::span<Real> logprob_gradients,
                     std::span<Real> entropy_gradients) {
  for (std::size_t t = 0; t < logprobs.size(); ++t) {
    const double log_ratio = static_cast<double>(logprobs[t]) - rollout_logprobs[t];
    const TokenLoss token =
        clipped_objective(log_ratio, advantages[t], settings.clip_low, settings.clip_high, settings.dual_clip);
    if (token.clipped != 0) (token.clipped < 0 ? sums.clipped_low : sums.clipped_high) += 1;

    sums.loss += weight * (token.value - settings.entropy_coefficient * entropies[t]);
    sums.entropy += entropies[t];
    sums.log_ratio -= log_ratio;
    sums.tokens += 1;
    logprob_gradients[t] = static_cast<Real>(weight * token.gradient);
    entropy_gradients[t] = static_cast<Real>(-weight * settings.entropy_coefficient);
  }
}

}  // namespace

void describe(FieldVisitor& v, PolicyLossConfig& c) {
  v.number("clip_low", c.clip_low, 0, 1);
  v.number("clip_high", c.clip_high, 0, 10);
  v.number("dual_clip", c.dual_clip, 0, 100);
  v.check("dual_clip", [&] { return c.dual_clip > 0 && c.dual_clip < 1 ? "must be 0 (off) or at least 1" : ""; });
  v.number("entropy_coefficient", c.entropy_coefficient, -1, 1);
  v.choice("average", c.average, {"trajectory", "token", "trajectory_sum", "fixed_length"});
  v.integer("mini_batch", c.mini_batch, 1, 65536);
  v.integer("epochs", c.epochs, 1, 100);
}

void describe(FieldVisitor& v, KlConfig& c) {
  v.number("coefficient", c.coefficient, 0, 100);
  v.choice("estimator", c.estimator, {"k1", "k2", "k3"});
  v.choice("placement", c.placement, {"reward", "loss"});
  v.text("reference", c.reference);
}

std::vector<double> token_weights(std::span<const int> trained_tokens, LossAverage average, int longest) {
  const double trajectories = static_cast<double>(trained_tokens.size());
  const double tokens = std::accumulate(trained_tokens.begin(), trained_tokens.end(), 0.0);
  std::vector<double> weights(trained_tokens.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    switch (average) {
      case LossAverage::trajectory: weights[i] = 1 / (trajectories * std::max(1, trained_tokens[i])); break;
      case LossAverage::token: weights[i] = 1 / std::max(1.0, tokens); break;
      case LossAverage::trajectory_sum: weights[i] = 1 / trajectories; break;
      case LossAverage::fixed_length: weights[i] = 1 / (trajectories * longest); break;
    }
  }
  return weights;
}

void policy_loss(std::span<const float> logprobs, std::span<const float> entropies,
                 std::span<const float> rollout_logprobs, std::span<const double> advantages, double weight,
                 const PolicyLossConfig& settings, PolicyLossSums& sums, std::span<float> logprob_gradients,
                 std::span<float> entropy_gradients) {
  add_policy_loss(logprobs, entropies, rollout_logprobs, advantages, weight, settings, sums, logprob_gradients,
                  entropy_gradients);
}

void policy_loss(std::span<const double> logprobs, std::span<const double> entropies,
                 std::span<const double> rollout_logprobs, std::span<const double> advantages, double weight,
                 const PolicyLossConfig& settings, PolicyLossSums& sums, std::span<double> logprob_gradients,
                 std::span<double> entropy_gradients) {
  add_policy_loss(logprobs, entropies, rollout_logprobs, advantages, weight, settings, sums, logprob_gradients,
                  entropy_gradients);
}

void kl_loss(std::span<const float> logprobs, std::span<const float> reference_logprobs, const KlConfig& config,
             double weight, double& loss, std::span<float> logprob_gradients) {
  const double scale = config.coefficient * weight;
  for (std::size_t t = 0; t < logprobs.size(); ++t) {
    const KlEstimate estimate = kl_estimate(config.estimator, logprobs[t], reference_logprobs[t]);
    loss += scale * estimate.value;
    logprob_gradients[t] += static_cast<float>(scale * estimate.gradient);
  }
}

double value_loss(std::span<const float> values, std::span<const float> old_values, std::span<const double> targets,
                  const std::vector<bool>& mask, double clip, double weight, std::span<float> gradients) {
  double loss = 0;
  for (std::size_t t = 0; t < values.size(); ++t) {
    gradients[t] = 0;
    if (!mask[t]) continue;
    const double value = values[t], old = old_values[t], error = value - targets[t];
    const double clipped_error = clip > 0 ? std::clamp(value, old - clip, old + clip) - targets[t] : error;
    const bool clipped = clipped_error * clipped_error > error * error;
    const double used_error = clipped ? clipped_error : error;
    loss += weight / 2 * used_error * used_error;
    gradients[t] = clipped ? 0.0f : static_cast<float>(weight * error);
  }
  return loss;
}

std::optional<double> explained_variance(std::span<const double> values, std::span<const double> returns) {
  const double deviation = reward_std(returns);
  if (deviation == 0) return std::nullopt;
  std::vector<double> errors(returns.size());
  for (std::size_t i = 0; i < errors.size(); ++i) errors[i] = returns[i] - values[i];
  const double error_deviation = standard_deviation(errors);
  return 1 - error_deviation * error_deviation / (deviation * deviation);
}

}  // namespace starpo
