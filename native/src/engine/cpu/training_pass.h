#pragma once

#include <memory>
#include <span>

#include "engine/cpu/model.h"

namespace starpo {

// Forward and backward passes of packed micro-batches. The head runs only on the target rows.
class CpuTrainingPass {
 public:
  explicit CpuTrainingPass(const CpuModel&);
  ~CpuTrainingPass();

  // Writes the log-probability and entropy of each target, from logits / temperature, in nats: [targets]. They are
  // bit-identical to those of CpuDecoder. Keeps the activations for backward().
  void forward(const PackedBatch&, float temperature, std::span<float> logprobs, std::span<float> entropies);

  // Adds d(loss)/d(weights) to gradients (flat, in the layout's order), from d(loss)/d(logprob) and d(loss)/d(entropy)
  // of the targets of the last forward(). The sum over tokens continues from the current gradients, so splitting a
  // mini-batch into micro-batches (in order) changes no bit. A forward pass allows one backward pass.
  void backward(std::span<const float> logprob_gradients, std::span<const float> entropy_gradients,
                std::span<float> gradients);

  // Run the passes with a value head. values: [targets], each at the position that predicts its target.
  void forward_values(const PackedBatch&, std::span<float> values);
  void backward_values(std::span<const float> value_gradients, std::span<float> gradients);

  // Memory of a pass over `tokens` tokens, all of them targets.
  struct Bytes {
    std::int64_t activations, logits;
  };
  static Bytes bytes(const ModelConfig&, ModelHead, int tokens, NetworkUse);

  // Returns the head's input in the last forward pass, [targets, hidden]. It is valid until the next pass.
  std::span<const float> features() const;

 private:
  void run_blocks(const PackedBatch&);
  void run_backward(const float* logprob_gradients, const float* entropy_gradients, std::span<float> gradients);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace starpo
