#pragma once

#include <vector>

#include "engine/engine.h"
#include "engine/cuda/engine/device_batch.h"
#include "engine/cuda/engine/layer.h"

namespace starpo::cuda {

// Everything a pass over `tokens` tokens needs besides the weights, in one arena. Without a backward pass all layers share their buffers.
template <class T>
struct TrainingBuffers {
  TrainingBuffers(Arena&, const ModelConfig&, int tokens, bool backward, Recompute);

  DeviceBatch batch;
  std::vector<LayerBuffers<T>> layers;
  T* delta = nullptr;                 // [tokens, hidden] what a layer's halves add to the residual stream
  float* final_x = nullptr;           // [tokens, hidden] the last layer's output; then the gradient of the stream
  T* rounded = nullptr;               // [tokens, hidden] that gradient in T; the stream's last norm before

  float* head_x = nullptr;            // [tokens, hidden] the target rows
  float* head_rms = nullptr;          // [tokens]
  T* head_normed = nullptr;           // [tokens, hidden]
  T* head_gradient = nullptr;         // [tokens, hidden] of head_normed
  float* head_x_gradient = nullptr;   // [tokens, hidden]
  int chunk = 0;                // rows of logits at a time
  float* logits = nullptr;            // [chunk, vocab]
  T* logit_gradient = nullptr;        // [chunk, vocab]
  float *logprobs = nullptr, *entropies = nullptr, *values = nullptr;  // [tokens]
  float *loss_weights = nullptr, *rollout_logprobs = nullptr, *advantages = nullptr, *reference_logprobs = nullptr;  // [tokens]

  T* hidden_gradient = nullptr;       // [tokens, intermediate]
  T* attended_gradient = nullptr;     // [tokens, queries]
  T* qkv_gradient = nullptr;          // [tokens, Widths::qkv]
  T* normed_gradient = nullptr;       // [tokens, hidden]
  float* attention_scratch = nullptr; // [heads, tokens]
  float* partials = nullptr;          // of sums over rows
};

extern template struct TrainingBuffers<Bf16>;
extern template struct TrainingBuffers<float>;

}  // namespace starpo::cuda
