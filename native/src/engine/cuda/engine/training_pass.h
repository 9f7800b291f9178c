#pragma once

#include <vector>

#include "engine/cuda/engine/training_buffers.h"
#include "engine/cuda/kernels/loss.h"
#include "engine/cuda/kernels/rope.h"
#include "engine/cuda/runtime/memory.h"
#include "engine/network_pass.h"

namespace starpo::cuda {

// Forward and backward passes of a network. Results are in the engine's memory and are valid until the next pass of any
// network.
template <class T>
class CudaTrainingPass final : public NetworkPass {
 public:
  CudaTrainingPass(Stream&, DeviceWeights<T>&, const Products<T>&, const RotaryTables&, const TrainingBuffers<T>&,
                   Recompute, bool backward);

  void forward(const PackedBatch&, float temperature, std::span<float> logprobs, std::span<float> entropies) override;
  void forward_backward(const PackedBatch&, float temperature, const BatchLoss&, std::span<float> logprobs,
                        std::span<float> entropies, PolicyLossSums& sums) override;
  std::span<const float> features() const override;
  void forward_values(const PackedBatch&, std::span<float> values) override;
  void backward_values(std::span<const float> value_gradients) override;

 private:
  // Returns false if the batch has no targets.
  bool run_blocks(const PackedBatch&);
  void run_block(int layer, const float* previous, const T* delta);

  Logits<float> chunk_logits(int first, int rows, float temperature);
  void upload_loss(const BatchLoss&);
  void chunk_backward(int first, int rows);
  void blocks_backward();
  void layer_backward(int layer);
  void mlp_backward(int layer);
  void attention_backward(int layer);
  const T* stream_gradient();

  Stream& stream_;
  DeviceWeights<T>& weights_;
  Products<T> products_;
  RotaryTables rotary_;
  TrainingBuffers<T> buffers_;
  Recompute recompute_;
  bool backward_;
  std::vector<float> loss_weights_, rollout_logprobs_, advantages_, reference_logprobs_;  // [targets]
  mutable std::vector<float> features_;
};

extern template class CudaTrainingPass<Bf16>;
extern template class CudaTrainingPass<float>;

}  // namespace starpo::cuda
