#pragma once

#include <span>

#include "algorithm/token_loss.h"
#include "config/run_config.h"

namespace starpo {

// KL in the loss, for a run of tokens of one trajectory: adds coefficient * weight * estimate to loss and its gradient to logprob_gradients. All spans: [tokens].
void kl_loss(std::span<const float> logprobs, std::span<const float> reference_logprobs, const KlConfig&, double weight, double& loss,
             std::span<float> logprob_gradients);

}  // namespace starpo
