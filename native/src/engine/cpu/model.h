#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "model/parameters.h"
#include "model/precision.h"

namespace starpo {

// A Qwen2 policy's or critic's weights together with whatever packed copies the kernels want of them.
// Decoder and TrainingPass read it; only who calls weights_changed() writes to it. One copy of the weights serves sampling and training.
class Model {
 public:
  Model(const ModelConfig&, ThreadPool&, Precision = Precision::fp32, ModelHead = ModelHead::language);  // Error precision_unsupported
  ~Model();

  const ParameterLayout& layout() const;
  ThreadPool& threads() const;
  Precision precision() const;

  std::span<const float> weights() const;
  // The optimiser writes here, then calls weights_changed() so that packed copies are made anew.
  std::span<float> mutable_weights();
  void weights_changed();

  struct Packed;
  const Packed& packed() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Log-probability of each row's target and the entropy of the row's distribution (nats), from logits / temperature over the whole vocabulary.
// logits [rows, vocab]; the same code serves sampler and update, so both see the same bits.
void logprob_and_entropy(std::span<const float> logits, int vocab, std::span<const std::int32_t> targets, float temperature,
                         std::span<float> logprobs, std::span<float> entropies, ThreadPool&);

}  // namespace starpo
