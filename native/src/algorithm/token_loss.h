#pragma once

#include "base/host_device.h"
#include "base/reproducible_math.h"

// One token's terms of the loss, for the CPU's loop and the GPU's kernel alike.
namespace starpo {

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

// PPO's clipped objective (arXiv 1707.06347, equation 7) with asymmetric clip (DAPO, arXiv 2503.14476, equation 10) and dual clip (arXiv 1912.09729, equation 5;
// 0: none). log_ratio: log policy - log policy of the rollout.
STARPO_HOST_DEVICE inline TokenLoss clipped_objective(double log_ratio, double advantage, double clip_low, double clip_high, double dual_clip) {
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

enum class KlEstimator { k1, k2, k3 };

// Estimators of KL(policy || reference) from one sampled token (Schulman, "Approximating KL Divergence", 2020), with log-ratio d = log policy - log reference:
//   k1: d                 unbiased, but its gradient is on average that of nothing: for the reward
//   k2: d^2 / 2           biased, with the gradient of the divergence
//   k3: exp(-d) - 1 + d   unbiased and never negative; at most 10, as in verl, and without gradient where it is cut (d below -2.6 or above 11), so that no single
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

}  // namespace starpo
