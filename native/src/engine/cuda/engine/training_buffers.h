#pragma once

#include <cstdint>
#include <vector>

#include "engine/cuda/engine/arena.h"
#include "engine/cuda/engine/layer.h"
#include "engine/cuda/kernels/attention.h"
#include "engine/engine.h"

namespace starpo::cuda {

// A micro-batch in device memory. The memory is allocated once, for the largest micro-batch.
class DeviceBatch {
 public:
  DeviceBatch(Arena&, int tokens);

  // Errors: std::invalid_argument for an invalid batch, std::out_of_range for a token outside the vocabulary.
  void upload(Stream&, const PackedBatch&, int vocab);
  // Sorts the tokens for the gradient of the embedding and uploads their order. Only a backward pass needs it.
  void upload_order(Stream&);

  int tokens = 0, targets = 0;
  PackedSequences sequences{};
  std::vector<int> target_counts;  // [sequences], on the host
  std::int32_t* ids;               // [tokens]
  std::int32_t* positions;         // [tokens]
  std::int32_t* target_rows;       // [targets] the rows that predict the targets
  std::int32_t* target_ids;        // [targets]
  int unique = 0;                  // tokens in order_ids, after upload_order
  std::int32_t* order_ids;         // of a TokenOrder (cuda/kernels/embedding.h)
  std::int32_t* order_starts;
  std::int32_t* order_rows;

 private:
  std::int32_t* starts_;
  std::vector<std::int32_t> tokens_on_host_;
  int capacity_;
};

// All buffers of a pass over at most `tokens` tokens, except the weights, in one arena. Without a backward pass, all
// layers share buffers.
template <class T>
struct TrainingBuffers {
  TrainingBuffers(Arena&, const ModelConfig&, int tokens, bool backward, Recompute);

  DeviceBatch batch;
  std::vector<LayerBuffers<T>> layers;
  T* delta = nullptr;        // [tokens, hidden] output of attention or MLP, added to the residual stream
  float* final_x = nullptr;  // [tokens, hidden] output of the last layer; later the gradient of the residual stream
  T* rounded = nullptr;      // [tokens, hidden] output of the final norm; later that gradient in T, which is also the
                             // gradient of the outputs of attention and MLP

  float* head_x = nullptr;                                             // [tokens, hidden] the target rows
  float* head_rms = nullptr;                                           // [tokens]
  T* head_normed = nullptr;                                            // [tokens, hidden]
  T* head_gradient = nullptr;                                          // [tokens, hidden] of head_normed
  float* head_x_gradient = nullptr;                                    // [tokens, hidden]
  int chunk = 0;                                                       // rows of logits that are computed at a time
  float* logits = nullptr;                                             // [chunk, row_stride(vocab)]
  T* logit_gradient = nullptr;                                         // [chunk, row_stride(vocab)]
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

}  // namespace starpo::cuda
