#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "algorithm/loss_settings.h"
#include "base/host_device.h"
#include "base/reproducible_math.h"

// Loss terms per token: the clipped policy objective with entropy bonus, KL to a reference, and the critic's squared
// error. RAGEN (arXiv 2504.20073) sums them over whole trajectories (equations 3 to 5), so "token" means a token
// sampled by the policy in any turn.
namespace starpo {

// Terms of one token, shared by the CPU loop and the GPU kernel.

// Bit-identical on every CPU. On a GPU, uses the device's exp, accurate to the last bit or two.
STARPO_HOST_DEVICE inline double loss_exp(double x) {
#ifdef __CUDA_ARCH__
  return exp(x);
#else
  return reproducible_exp(x);
#endif
}

struct TokenLoss {
  double value;
  double gradient;  // d(value)/d(log policy)
  int clipped;      // -1: the lower clip removed the gradient, 1: the upper, 0: neither
};

// Computes the clipped objective. With r = policy / rollout policy (log_ratio: log r):
//   L = max(-A r, -A clamp(r, 1 - clip_low, 1 + clip_high))   PPO (arXiv 1707.06347, equation 7), with the asymmetric
//                                                             clip of DAPO (arXiv 2503.14476, equation 10)
//   L = min(L, -A dual_clip) if A < 0                         dual clip (arXiv 1912.09729, equation 5); 0 disables it
STARPO_HOST_DEVICE inline TokenLoss clipped_objective(double log_ratio, double advantage, double clip_low,
                                                      double clip_high, double dual_clip) {
  const double ratio = loss_exp(log_ratio), low = 1 - clip_low, high = 1 + clip_high;
  const double clipped = ratio < low ? low : high < ratio ? high : ratio;
  TokenLoss token{-advantage * ratio, -advantage * ratio, 0};  // d(ratio)/d(log policy) = ratio
  if (-advantage * clipped > token.value) token = {-advantage * clipped, 0, ratio < 1 ? -1 : 1};
  if (dual_clip > 0 && advantage < 0 && token.value > -advantage * dual_clip) {
    token.value = -advantage * dual_clip;
    token.gradient = 0;
  }
  return token;
}

// Estimators of KL(policy || reference) from one sampled token (Schulman, "Approximating KL Divergence", 2020), with
// log-ratio d = log policy - log reference:
//   k1: d                 unbiased, but its expected gradient is zero; for the reward only
//   k2: d^2 / 2           biased, with the gradient of the divergence
//   k3: exp(-d) - 1 + d   unbiased and non-negative; at most 10, as in verl, with zero gradient where it is clipped (d
//                         below -2.6 or above 11), so that one token cannot dominate the update
inline constexpr double kMaxK3 = 10;

struct KlEstimate {
  double value;
  double gradient;  // d(value)/d(log policy)
};
STARPO_HOST_DEVICE inline KlEstimate kl_estimate(KlEstimator estimator, double logprob, double reference_logprob) {
  const double d = logprob - reference_logprob;
  if (estimator == KlEstimator::k1) return {d, 1};
  if (estimator == KlEstimator::k2) return {d * d / 2, d};
  const double ratio = loss_exp(-d);
  const double value = ratio - 1 + d;
  if (value > kMaxK3) return {kMaxK3, 0};
  return {value, 1 - ratio};
}

// Returns the weight of each sample's tokens in the loss of a mini-batch. trained_tokens: [samples]; trajectories: the
// trajectory of each sample, by default its own; longest: maximum trained tokens per trajectory. Samples without tokens
// don't count. Depends on the mini-batch only, so the loss does not depend on micro-batches.
std::vector<double> token_weights(std::span<const int> trained_tokens, LossAverage, int longest);
std::vector<double> token_weights(std::span<const int> trained_tokens, std::span<const int> trajectories, LossAverage,
                                  int longest);

// Sums over tokens with an advantage above 0, and below 0.
struct SignedSums {
  double positive = 0, negative = 0;
  void add(double advantage, double value) { (advantage > 0 ? positive : negative) += advantage == 0 ? 0 : value; }
};

struct PolicyLossSums {
  double loss = 0;  // weighted, as are its components
  double policy = 0, entropy_bonus = 0, kl = 0, log_ratio_penalty = 0, likelihood = 0, cross_entropy = 0;
  double entropy = 0;      // this and all below: plain sums over tokens
  double clipped_low = 0;  // tokens whose gradient the lower clip removed
  double clipped_high = 0;
  double log_ratio = 0;          // rollout - update log-probability
  SignedSums signs;              // tokens by the sign of their advantage
  SignedSums truncated, masked;  // tokens whose weight a correction truncated, or set to 0
  double weights = 0, squared_weights = 0, squared_ratios = 0;  // of corrections
  long tokens = 0;

  PolicyLossSums& operator+=(const PolicyLossSums&);
};

// Adds weight * (clipped objective - entropy_coefficient * entropy) over tokens of one sequence to sums. Writes
// d(loss)/d(logprob) and d(loss)/d(entropy). All spans: [tokens].
void policy_loss(std::span<const float> logprobs, std::span<const float> entropies,
                 std::span<const float> rollout_logprobs, std::span<const double> advantages, double weight,
                 const PolicyLossConfig&, PolicyLossSums&, std::span<float> logprob_gradients,
                 std::span<float> entropy_gradients);

// Adds the KL term, coefficient * weight * estimate, to sums and its gradient to logprob_gradients. All spans:
// [tokens].
void kl_loss(std::span<const float> logprobs, std::span<const float> reference_logprobs, const KlConfig&, double weight,
             PolicyLossSums& sums, std::span<float> logprob_gradients);

// Difference between update log-probabilities, before the first step, and rollout log-probabilities.
struct LogprobGap {
  double sum = 0, largest = 0, kl = 0;
  std::int64_t tokens = 0;

  // difference: update minus rollout log-probability of a sampled token.
  void add(double difference) {
    sum += std::abs(difference);
    largest = std::max(largest, std::abs(difference));
    kl += std::expm1(difference) - difference;  // k3; its mean estimates KL(rollout || update)
    ++tokens;
  }
};

// Returns the critic loss, weight / 2 * max((V - R)^2, (clamp(V, V_old - clip, V_old + clip) - R)^2) summed over
// tokens of the mask, as in PPO's reference implementation; clip 0 disables clipping. V_old: value before the update,
// R: target. Writes d(loss)/d(value), 0 outside the mask. All spans and the mask: [tokens].
double value_loss(std::span<const float> values, std::span<const float> old_values, std::span<const double> targets,
                  const std::vector<bool>& mask, double clip, double weight, std::span<float> gradients);

// Returns 1 - variance(returns - values) / variance(returns): 1 for a perfect critic, 0 for a critic that predicts the
// mean. Returns nothing if all returns are equal.
std::optional<double> explained_variance(std::span<const double> values, std::span<const double> returns);

}  // namespace starpo
