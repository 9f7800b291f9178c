#pragma once

#include <cstdint>
#include <vector>

#include "engine/cuda/engine/arena.h"
#include "engine/cuda/engine/layer.h"
#include "engine/cuda/kernels/attention.h"
#include "engine/cuda/kernels/loss.h"
#include "engine/cuda/kernels/rope.h"
#include "engine/cuda/runtime/memory.h"
#include "engine/engine.h"
#include "engine/network_pass.h"
#include "engine/packed_batch.h"

namespace starpo::cuda {

// A micro-batch in device memory, allocated once for the largest.
class DeviceBatch {
 public:
  DeviceBatch(Arena&, int tokens);

  // Errors: std::invalid_argument for an invalid batch, std::out_of_range for a token outside the vocabulary.
  void upload(Stream&, const PackedBatch&, int vocab);

  int tokens = 0, targets = 0, unique = 0;
  PackedSequences sequences{};
  std::vector<int> target_counts;  // [sequences], on the host
  std::int32_t* ids;               // [tokens]
  std::int32_t* positions;         // [tokens]
  std::int32_t* target_rows;       // [targets] the rows that predict them
  std::int32_t* target_ids;        // [targets]
  std::int32_t* order_ids;         // of a TokenOrder (cuda/kernels/embedding.h)
  std::int32_t* order_starts;
  std::int32_t* order_rows;

 private:
  std::int32_t* starts_;
  int capacity_;
};

// All buffers of a pass over `tokens` tokens, except the weights, in one arena. Without a backward pass all layers
// share buffers.
template <class T>
struct TrainingBuffers {
  TrainingBuffers(Arena&, const ModelConfig&, int tokens, bool backward, Recompute);

  DeviceBatch batch;
  std::vector<LayerBuffers<T>> layers;
  T* delta = nullptr;        // [tokens, hidden] output of a half layer, added to the residual stream
  float* final_x = nullptr;  // [tokens, hidden] the last layer's output; then the gradient of the stream
  T* rounded = nullptr;      // [tokens, hidden] the final norm's output, then that gradient in T

  float* head_x = nullptr;                                             // [tokens, hidden] the target rows
  float* head_rms = nullptr;                                           // [tokens]
  T* head_normed = nullptr;                                            // [tokens, hidden]
  T* head_gradient = nullptr;                                          // [tokens, hidden] of head_normed
  float* head_x_gradient = nullptr;                                    // [tokens, hidden]
  int chunk = 0;                                                       // rows of logits at a time
  float* logits = nullptr;                                             // [chunk, vocab]
  T* logit_gradient = nullptr;                                         // [chunk, vocab]
  float *logprobs = nullptr, *entropies = nullptr, *values = nullptr;  // [tokens]
  float *loss_weights = nullptr, *rollout_logprobs = nullptr, *advantages = nullptr,
        *reference_logprobs = nullptr;  // [tokens]

  T* hidden_gradient = nullptr;        // [tokens, intermediate]
  T* attended_gradient = nullptr;      // [tokens, queries]
  T* qkv_gradient = nullptr;           // [tokens, Widths::qkv]
  T* normed_gradient = nullptr;        // [tokens, hidden]
  float* attention_scratch = nullptr;  // [heads, tokens]
  float* partials = nullptr;           // partial sums over rows
};

extern template struct TrainingBuffers<Bf16>;
extern template struct TrainingBuffers<float>;

// Passes of a network over packed micro-batches. Results are in the engine's memory, valid until the next pass of any
// network.
template <class T>
class CudaTrainingPass final : public NetworkPass {
 public:
  CudaTrainingPass(Stream&, DeviceWeights<T>&, const Products<T>&, const RotaryTables&, const TrainingBuffers<T>&,
                   Recompute, bool backward);

  void forward(const PackedBatch&, float temperature, std::span<float> logprobs, std::span<float> entropies) override;
  void learn(const PackedBatch&, float temperature, const BatchLoss&, std::span<float> logprobs,
             std::span<float> entropies, PolicyLossSums& sums) override;
  std::span<const float> features() const override;
  void forward_values(const PackedBatch&, std::span<float> values) override;
  void backward_values(std::span<const float> value_gradients) override;

 private:
  bool run_blocks(const PackedBatch&);
  void run_one(int layer, const float* previous, const T* delta);
  void attend(int layer, const float* bias);
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
