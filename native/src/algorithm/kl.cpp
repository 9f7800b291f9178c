#include "algorithm/kl.h"

#include "base/reproducible_math.h"

namespace starpo {

KlEstimate kl_estimate(KlEstimator estimator, double logprob, double reference_logprob) {
  const double d = logprob - reference_logprob;
  switch (estimator) {
    case KlEstimator::k1: return {d, 1};
    case KlEstimator::k2: return {d * d / 2, d};
    case KlEstimator::k3: break;
  }
  const double ratio = reproducible_exp(-d);
  return {ratio - 1 + d, 1 - ratio};
}

void kl_loss(std::span<const float> logprobs, std::span<const float> reference_logprobs, const KlConfig& config, double weight, double& loss,
             std::span<float> logprob_gradients) {
  const double scale = config.coefficient * weight;
  for (std::size_t t = 0; t < logprobs.size(); ++t) {
    const KlEstimate estimate = kl_estimate(config.estimator, logprobs[t], reference_logprobs[t]);
    loss += scale * estimate.value;
    logprob_gradients[t] += static_cast<float>(scale * estimate.gradient);
  }
}

}  // namespace starpo
