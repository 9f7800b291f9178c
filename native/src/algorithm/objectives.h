#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/host_device.h"
#include "base/reproducible_math.h"
#include "fields/field_visitor.h"

// What an update minimises, token by token: the clipped policy objective with entropy bonus, KL to a reference, the
// critic's squared error. RAGEN (arXiv 2504.20073) takes them over whole trajectories (equations 3 to 5): a "token"
// here is one that the policy chose, in whatever turn.
namespace starpo {

// How a mini-batch's tokens are weighed against each other. n: trajectories of the mini-batch, |o|: trained tokens of
// one.
//   trajectory:     1/n sum 1/|o| sum L    mean over a trajectory's tokens, then over trajectories (RAGEN, equation 4)
//   token:          1/(sum |o|) sum L      mean over all tokens of the mini-batch (DAPO, arXiv 2503.14476, section 3.3)
//   trajectory_sum: 1/n sum L              sum over a trajectory's tokens, mean over trajectories
//   fixed_length:   1/(n * longest) sum L  the same divided by the longest possible length (Dr. GRPO, arXiv 2503.20783)
enum class LossAverage { trajectory, token, trajectory_sum, fixed_length };

struct PolicyLossConfig {
  double clip_low = 0;
  double clip_high = 0;
  double dual_clip = 0;
  double entropy_coefficient = 0;
  LossAverage average = LossAverage::trajectory;
  int mini_batch = 0;
  int epochs = 0;
};
void describe(FieldVisitor&, PolicyLossConfig&);

enum class KlEstimator { k1, k2, k3 };
enum class KlPlacement { reward, loss };

struct KlConfig {
  double coefficient = 0;
  KlEstimator estimator = KlEstimator::k1;
  KlPlacement placement = KlPlacement::reward;
  std::string reference;  // model folder; empty: the run's initial weights
};
void describe(FieldVisitor&, KlConfig&);

// One token's terms, for the CPU's loop and the GPU's kernel alike.

// The same bits on every machine's CPU; on a GPU the device's own, correct to the last bit or two.
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

// With r = policy / policy of the rollout:
//   L = max(-A r, -A clamp(r, 1 - clip_low, 1 + clip_high))   PPO (arXiv 1707.06347, equation 7), asymmetric as in DAPO
//   (arXiv 2503.14476, equation 10) L = min(L, -A dual_clip) where A < 0                      dual clip (arXiv
//   1912.09729, equation 5); 0: none
// log_ratio: log r.
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
//   k1: d                 unbiased, but its gradient is on average that of nothing: for the reward
//   k2: d^2 / 2           biased, with the gradient of the divergence
//   k3: exp(-d) - 1 + d   unbiased and never negative; at most 10, as in verl, and without gradient where it is cut (d
//   below -2.6 or above 11), so that no single
//                         token that the reference likes far better is the whole update
inline constexpr double largest_k3 = 10;

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
  if (value > largest_k3) return {largest_k3, 0};
  return {value, 1 - ratio};
}

// The policy's loss.

// The weight of each trajectory's tokens in a mini-batch's loss. trained_tokens: [trajectories] count of each; longest:
// most tokens a trajectory can train. A function of the mini-batch alone, so the loss never depends on how it is cut
// into micro-batches.
std::vector<double> token_weights(std::span<const int> trained_tokens, LossAverage, int longest);

struct PolicyLossSums {
  double loss = 0;         // weighted
  double entropy = 0;      // plain sums over tokens from here on
  double clipped_low = 0;  // tokens whose gradient the lower clip removed
  double clipped_high = 0;
  double log_ratio = 0;  // rollout - update log-probability
  long tokens = 0;
};

// sum weight * (clipped objective - entropy_coefficient * entropy) for a run of tokens of one trajectory: one weight.
// Adds to sums and writes d(loss)/d(logprob) and d(loss)/d(entropy). All spans: [tokens].
void policy_loss(std::span<const float> logprobs, std::span<const float> entropies,
                 std::span<const float> rollout_logprobs, std::span<const double> advantages, double weight,
                 const PolicyLossConfig&, PolicyLossSums&, std::span<float> logprob_gradients,
                 std::span<float> entropy_gradients);

// KL in the loss, for the same: adds coefficient * weight * estimate to loss and its gradient to logprob_gradients. All
// spans: [tokens].
void kl_loss(std::span<const float> logprobs, std::span<const float> reference_logprobs, const KlConfig&, double weight,
             double& loss, std::span<float> logprob_gradients);

// How far the update's log-probabilities, before its first step, are from those that the rollout wrote down.
struct LogprobGap {
  double sum = 0, largest = 0, kl = 0;
  std::int64_t tokens = 0;

  // difference: the update's log-probability of a sampled token minus the rollout's.
  void add(double difference) {
    sum += std::abs(difference);
    largest = std::max(largest, std::abs(difference));
    kl +=
        std::expm1(difference) - difference;  // k3: its mean over the rollout's samples estimates KL(rollout || update)
    ++tokens;
  }
};

// The critic's loss.

// weight / 2 * max((V - R)^2, (clamp(V, V_old - clip, V_old + clip) - R)^2), summed over a run of tokens (as PPO's
// reference implementation has it; clip 0: the first alone). V_old: the value before the update, R: the return. Writes
// d(loss)/d(value) and returns the loss. All spans: [tokens].
double value_loss(std::span<const float> values, std::span<const float> old_values, std::span<const double> returns,
                  double clip, double weight, std::span<float> gradients);

// 1 - variance(returns - values) / variance(returns): 1 for a critic that knows every return, 0 for one that knows
// their mean alone, negative for a worse one. Nothing where the returns don't differ.
std::optional<double> explained_variance(std::span<const double> values, std::span<const double> returns);

}  // namespace starpo
