#pragma once

#include <span>

#include "engine/batch_loss.h"
#include "engine/packed_batch.h"

namespace starpo {

// Forward and backward of packed micro-batches through a network. The head runs on the target rows only.
class NetworkPass {
 public:
  virtual ~NetworkPass() = default;

  // Of each target, from logits / temperature, in nats: [targets].
  virtual void forward(const PackedBatch&, float temperature, std::span<float> logprobs, std::span<float> entropies) = 0;

  // The same, and adds d(loss)/d(weights) to the network's gradients, and the loss to sums. Splitting a mini-batch into micro-batches (in order) changes
  // no bit of the gradients where the network's products are exact.
  virtual void learn(const PackedBatch&, float temperature, const BatchLoss&, std::span<float> logprobs, std::span<float> entropies, PolicyLossSums& sums) = 0;

  // [targets, hidden] what the head read in the last forward() or learn(); gone after the next one.
  virtual std::span<const float> features() const = 0;

  // The same of a network with a value head. values: [targets], each read where its target is predicted, from what the policy knew when it chose it.
  virtual void forward_values(const PackedBatch&, std::span<float> values) = 0;
  // Of the last forward_values(): adds to the network's gradients.
  virtual void backward_values(std::span<const float> value_gradients) = 0;
};

}  // namespace starpo
