#include "algorithm/objectives.h"

#include <map>
#include <numeric>

#include "algorithm/statistics.h"

namespace starpo {

PolicyLossSums& PolicyLossSums::operator+=(const PolicyLossSums& other) {
  constexpr double PolicyLossSums::* members[] = {&PolicyLossSums::loss,
                                                  &PolicyLossSums::policy,
                                                  &PolicyLossSums::entropy_bonus,
                                                  &PolicyLossSums::kl,
                                                  &PolicyLossSums::log_ratio_penalty,
                                                  &PolicyLossSums::likelihood,
                                                  &PolicyLossSums::cross_entropy,
                                                  &PolicyLossSums::entropy,
                                                  &PolicyLossSums::clipped_low,
                                                  &PolicyLossSums::clipped_high,
                                                  &PolicyLossSums::log_ratio,
                                                  &PolicyLossSums::weights,
                                                  &PolicyLossSums::squared_weights,
                                                  &PolicyLossSums::squared_ratios};
  for (const auto member : members) this->*member += other.*member;
  for (const auto signs : {&PolicyLossSums::signs, &PolicyLossSums::truncated, &PolicyLossSums::masked}) {
    (this->*signs).positive += (other.*signs).positive;
    (this->*signs).negative += (other.*signs).negative;
  }
  tokens += other.tokens;
  return *this;
}

std::vector<double> token_weights(std::span<const int> trained_tokens, LossAverage average, int longest) {
  std::vector<int> trajectories(trained_tokens.size());
  std::iota(trajectories.begin(), trajectories.end(), 0);
  return token_weights(trained_tokens, trajectories, average, longest);
}

std::vector<double> token_weights(std::span<const int> trained_tokens, std::span<const int> trajectories,
                                  LossAverage average, int longest) {
  std::map<int, double> lengths;
  double tokens = 0;
  for (std::size_t i = 0; i < trained_tokens.size(); ++i) {
    if (trained_tokens[i] > 0) lengths[trajectories[i]] += trained_tokens[i];
    tokens += trained_tokens[i];
  }
  const double count = static_cast<double>(lengths.size());
  std::vector<double> weights(trained_tokens.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (trained_tokens[i] == 0) continue;
    switch (average) {
      case LossAverage::trajectory: weights[i] = 1 / (count * lengths[trajectories[i]]); break;
      case LossAverage::token: weights[i] = 1 / tokens; break;
      case LossAverage::trajectory_sum: weights[i] = 1 / count; break;
      case LossAverage::fixed_length: weights[i] = 1 / (count * longest); break;
    }
  }
  return weights;
}

void policy_loss(std::span<const float> logprobs, std::span<const float> entropies,
                 std::span<const float> rollout_logprobs, std::span<const double> advantages, double weight,
                 const PolicyLossConfig& settings, PolicyLossSums& sums, std::span<float> logprob_gradients,
                 std::span<float> entropy_gradients) {
  for (std::size_t t = 0; t < logprobs.size(); ++t) {
    const double log_ratio = static_cast<double>(logprobs[t]) - rollout_logprobs[t];
    const TokenLoss token =
        clipped_objective(log_ratio, advantages[t], settings.clip_low, settings.clip_high, settings.dual_clip);
    if (token.clipped != 0) (token.clipped < 0 ? sums.clipped_low : sums.clipped_high) += 1;

    sums.loss += weight * (token.value - settings.entropy_coefficient * entropies[t]);
    sums.policy += weight * token.value;
    sums.entropy_bonus -= weight * settings.entropy_coefficient * entropies[t];
    sums.entropy += entropies[t];
    sums.log_ratio -= log_ratio;
    sums.tokens += 1;
    logprob_gradients[t] = static_cast<float>(weight * token.gradient);
    entropy_gradients[t] = static_cast<float>(-weight * settings.entropy_coefficient);
  }
}

void kl_loss(std::span<const float> logprobs, std::span<const float> reference_logprobs, const KlConfig& config,
             double weight, PolicyLossSums& sums, std::span<float> logprob_gradients) {
  const double scale = config.coefficient * weight;
  for (std::size_t t = 0; t < logprobs.size(); ++t) {
    const KlEstimate estimate = kl_estimate(config.estimator, logprobs[t], reference_logprobs[t]);
    sums.loss += scale * estimate.value;
    sums.kl += scale * estimate.value;
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
