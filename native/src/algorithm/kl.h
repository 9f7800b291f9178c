#pragma once

#include <span>

#include "config/run_config.h"

namespace starpo {

// Estimators of KL(policy || reference) from one sampled token (Schulman, "Approximating KL Divergence", 2020), with log-ratio d = log policy - log reference:
//   k1: d                 unbiased, but its gradient is on average that of nothing: for the reward
//   k2: d^2 / 2           biased, with the gradient of the divergence
//   k3: exp(-d) - 1 + d   unbiased and never negative
struct KlEstimate {
  double value;
  double gradient;  // d(value)/d(log policy)
};
KlEstimate kl_estimate(KlEstimator, double logprob, double reference_logprob);

// KL in the loss, for a run of tokens of one trajectory: adds coefficient * weight * estimate to loss and its gradient to logprob_gradients. All spans: [tokens].
void kl_loss(std::span<const float> logprobs, std::span<const float> reference_logprobs, const KlConfig&, double weight, double& loss,
             std::span<float> logprob_gradients);

}  // namespace starpo
