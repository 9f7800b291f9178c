#include "algorithm/kl.h"

namespace starpo {

void describe(FieldVisitor& v, KlConfig& c) {
  v.number("coefficient", c.coefficient, 0, 100);
  v.choice("estimator", c.estimator, {"k1", "k2", "k3"});
  v.choice("placement", c.placement, {"reward", "loss"});
  v.text("reference", c.reference);
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
