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
void loss_gradients(const PackedBatch&, const BatchLoss&, std::span<const float> logprobs,
                    std::span<const float> entropies, PolicyLossSums& sums, std::span<float> logprob_gradients,
                    std::span<float> entropy_gradients);

// Forward and backward of packed micro-batches through a network. The head runs on the target rows only.
class NetworkPass {
 public:
  virtual ~NetworkPass() = default;

  // Of each target, from logits / temperature, in nats: [targets].
  virtual void forward(const PackedBatch&, float temperature, std::span<float> logprobs,
                       std::span<float> entropies) = 0;

  // The same, and adds d(loss)/d(weights) to the network's gradients, and the loss to sums. Splitting a mini-batch into
  // micro-batches (in order) changes no bit of the gradients where the network's products are exact.
  virtual void learn(const PackedBatch&, float temperature, const BatchLoss&, std::span<float> logprobs,
                     std::span<float> entropies, PolicyLossSums& sums) = 0;

  // [targets, hidden] what the head read in the last forward() or learn(); gone after the next one.
  virtual std::span<const float> features() const = 0;

  // The same of a network with a value head. values: [targets], each read where its target is predicted, from what the
  // policy knew when it chose it.
  virtual void forward_values(const PackedBatch&, std::span<float> values) = 0;
  // Of the last forward_values(): adds to the network's gradients.
  virtual void backward_values(std::span<const float> value_gradients) = 0;
};

}  // namespace starpo
