#pragma once

#include <span>
#include <vector>

#include "algorithm/objectives.h"
#include "engine/packed_batch.h"

namespace starpo {

// One trajectory's part in a micro-batch's loss. Spans: [its targets].
struct SequenceLoss {
  std::span<const float> rollout_logprobs;
  std::span<const double> advantages;
  std::span<const float> reference_logprobs;  // empty without a KL term in the loss
  double weight = 0;                          // of each of its tokens
};

enum class Objective {
  policy,      // the clipped surrogate with entropy bonus and KL (algorithm/objectives.h)
  likelihood,  // -weight * log-probability: supervised
};

// What a micro-batch is to learn, sequence by sequence.
struct BatchLoss {
  Objective objective = Objective::policy;
  PolicyLossConfig policy;
  KlConfig kl;  // coefficient 0: none in the loss
  std::vector<SequenceLoss> sequences;
};

// Adds the loss of all targets to sums, in order, and writes d(loss)/d(logprob) and d(loss)/d(entropy): [targets].
void loss_gradients(const PackedBatch&, const BatchLoss&, std::span<const float> logprobs, std::span<const float> entropies, PolicyLossSums& sums,
                    std::span<float> logprob_gradients, std::span<float> entropy_gradients);

}  // namespace starpo
