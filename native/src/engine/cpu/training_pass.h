#pragma once

#include <memory>
#include <span>

#include "engine/cpu/model.h"
#include "engine/packed_batch.h"

namespace starpo {

// Forward and backward pass of a packed micro-batch. The head runs only on the target rows.
class CpuTrainingPass {
 public:
  explicit CpuTrainingPass(const CpuModel&);
  ~CpuTrainingPass();

  // logprobs, entropies: [targets], from logits / temperature, in nats. Keeps what backward needs. Bit-identical to
  // CpuDecoder.
  void forward(const PackedBatch&, float temperature, std::span<float> logprobs, std::span<float> entropies);

  // Adds d(loss)/d(weights) to gradients (flat, the layout's order), given d(loss)/d(logprob) and d(loss)/d(entropy) of
  // every target of the last forward. The sum over tokens continues from the current gradients, so splitting a
  // mini-batch into micro-batches (in order) changes no bit.
  void backward(std::span<const float> logprob_gradients, std::span<const float> entropy_gradients,
                std::span<float> gradients);

  // The forward pass with a value head. values: [targets], each at the position that predicts its target.
  void forward_values(const PackedBatch&, std::span<float> values);
  void backward_values(std::span<const float> value_gradients, std::span<float> gradients);

  // Bytes of a pass over this many tokens, all of them targets.
  struct Bytes {
    std::int64_t activations, logits;
  };
  static Bytes bytes(const ModelConfig&, ModelHead, int tokens, NetworkUse);

  // [targets, hidden] the head's input in the last forward, valid until the next.
  std::span<const float> features() const;

 private:
  void run_blocks(const PackedBatch&);
  void run_backward(const float* logprob_gradients, const float* entropy_gradients, std::span<float> gradients);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace starpo
