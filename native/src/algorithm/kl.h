#pragma once

#include <span>
#include <string>

#include "algorithm/token_loss.h"
#include "fields/field_visitor.h"

namespace starpo {

enum class KlPlacement { reward, loss };

struct KlConfig {
  double coefficient = 0;
  KlEstimator estimator = KlEstimator::k1;
  KlPlacement placement = KlPlacement::reward;
  std::string reference;  // model folder; empty: the run's initial weights
};
void describe(FieldVisitor&, KlConfig&);

// KL in the loss, for a run of tokens of one trajectory: adds coefficient * weight * estimate to loss and its gradient to logprob_gradients. All spans: [tokens].
void kl_loss(std::span<const float> logprobs, std::span<const float> reference_logprobs, const KlConfig&, double weight, double& loss,
             std::span<float> logprob_gradients);

}  // namespace starpo
