#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithm/objectives.h"

namespace starpo {

// Concatenated sequences without padding, and the tokens to predict.
struct PackedBatch {
  std::vector<std::int32_t> tokens;           // [tokens]
  std::vector<std::int32_t> sequence_starts;  // [sequences + 1], first 0, last = tokens.size()
  // Ascending indices into tokens. The previous row predicts each, so the first token of a sequence can't be a target.
  std::vector<std::int32_t> targets;
};

// Loss inputs of one sequence. Spans: [targets of the sequence].
struct SequenceLoss {
  std::span<const float> rollout_logprobs;
  std::span<const double> advantages;
  std::span<const float> reference_logprobs;  // empty without a KL term in the loss
  double weight = 0;                          // weight of each token
};

enum class Objective {
  policy,      // the clipped surrogate with entropy bonus and KL (algorithm/objectives.h)
  likelihood,  // supervised: -weight * log-probability
};

// The loss of a micro-batch, by sequence.
struct BatchLoss {
  Objective objective = Objective::policy;
  PolicyLossConfig policy;
  KlConfig kl;  // coefficient 0: no KL term in the loss
  std::vector<SequenceLoss> sequences;
};

// Adds the loss of all targets to `sums` in order. Writes d(loss)/d(logprob) and d(loss)/d(entropy): [targets].
void loss_gradients(const PackedBatch&, const BatchLoss&, std::span<const float> logprobs,
                    std::span<const float> entropies, PolicyLossSums& sums, std::span<float> logprob_gradients,
                    std::span<float> entropy_gradients);

// Forward and backward passes of packed micro-batches. The head runs only on the target rows.
class NetworkPass {
 public:
  virtual ~NetworkPass() = default;

  // Writes the log-probability and entropy of each target, from logits / temperature, in nats: [targets].
  virtual void forward(const PackedBatch&, float temperature, std::span<float> logprobs,
                       std::span<float> entropies) = 0;

  // Runs forward(), then adds d(loss)/d(weights) to the network's gradients and the loss to `sums`. On a CPU,
  // splitting a mini-batch into micro-batches (in order) changes no bit of the gradients.
  virtual void forward_backward(const PackedBatch&, float temperature, const BatchLoss&, std::span<float> logprobs,
                                std::span<float> entropies, PolicyLossSums& sums) = 0;

  // Runs the backward pass of the last forward() and adds to the network's gradients. Gradients: [targets],
  // d(loss)/d(logprob) and d(loss)/d(entropy). The result equals that of forward_backward() with a loss that has these
  // gradients.
  virtual void backward(std::span<const float> logprob_gradients, std::span<const float> entropy_gradients) = 0;

  // Returns the head's input in the last forward() or forward_backward(), [targets, hidden]. It is valid until the next
  // call.
  virtual std::span<const float> features() const = 0;

  // Runs the forward pass with a value head. values: [targets], each at the position that predicts its target.
  virtual void forward_values(const PackedBatch&, std::span<float> values) = 0;
  // Runs the backward pass of the last forward_values() and adds to the network's gradients.
  virtual void backward_values(std::span<const float> value_gradients) = 0;
};

}  // namespace starpo
