#include "engine/cuda/engine/training_pass.h"
#include "engine/cuda/kernels/column_sums.h"
#include "engine/cuda/kernels/convert.h"
#include "engine/cuda/kernels/embedding.h"

namespace starpo::cuda {

// From the logits' gradient: the head's own, and that of what it read.
template <class T>
void TrainingPass<T>::chunk_backward(int first, int rows) {
  const TrainingBuffers<T>& b = buffers_;
  const Widths& width = weights_.width();
  const std::size_t head = weights_.offsets().head, at = static_cast<std::size_t>(first) * width.hidden;
  convert(stream_, static_cast<std::size_t>(rows) * width.vocab, b.logits, b.logit_gradient);
  products_.backward(rows, width.vocab, width.hidden, b.logit_gradient, b.head_normed + at, weights_.gradient(head), weights_.matrix(head), b.head_gradient + at);
}

template <class T>
void TrainingPass<T>::blocks_backward() {
  const TrainingBuffers<T>& b = buffers_;
  const Widths& width = weights_.width();
  const int tokens = b.batch.tokens, targets = b.batch.targets;
  const std::size_t norm = weights_.offsets().final_norm, row = width.hidden * sizeof(float);
  fill_bytes(stream_, b.head_x_gradient, 0, targets * row);
  norm_backward(stream_, targets, width.hidden, b.head_x, weights_.master(norm), b.head_rms, b.head_gradient, b.head_x_gradient, weights_.gradient(norm), b.partials);
  fill_bytes(stream_, b.final_x, 0, tokens * row);
  scatter_rows(stream_, targets, width.hidden, b.head_x_gradient, b.batch.target_rows, b.final_x);
  for (int layer = static_cast<int>(b.layers.size()) - 1; layer >= 0; --layer) layer_backward(layer);
  embedding_gradient(stream_, b.batch.unique, width.hidden, b.batch.order_ids, b.batch.order_starts, b.batch.order_rows, b.final_x, weights_.gradient(weights_.offsets().embedding));
}

template <class T>
void TrainingPass<T>::layer_backward(int layer) {
  const TrainingBuffers<T>& b = buffers_;
  const LayerBuffers<T>& own = b.layers[layer];
  const Widths& width = weights_.width();
  const LayerOffsets& at = weights_.offsets().layers[layer];
  const float epsilon = weights_.layout().config().rms_norm_eps;
  const auto normed_again = [&](float* x, std::size_t norm, T* normed) {
    residual_norm(stream_, b.batch.tokens, width.hidden, x, static_cast<const T*>(nullptr), weights_.master(norm), epsilon, normed, nullptr);
  };
  if (recompute_ == Recompute::block) run_one(layer, own.x, nullptr);
  if (recompute_ == Recompute::elementwise) {
    normed_again(own.x, at.input_norm, own.normed);
    normed_again(own.middle, at.mlp_norm, own.middle_normed);
    swiglu(stream_, b.batch.tokens, width.intermediate, own.gate_up, own.hidden);
  }
  mlp_backward(layer);
  attention_backward(layer);
}

// The residual stream's gradient, rounded: that of what a half of the layer adds to it.
template <class T>
const T* TrainingPass<T>::stream_gradient() {
  convert(stream_, static_cast<std::size_t>(buffers_.batch.tokens) * weights_.width().hidden, buffers_.final_x, buffers_.rounded);
  return buffers_.rounded;
}

template <class T>
void TrainingPass<T>::mlp_backward(int layer) {
  const TrainingBuffers<T>& b = buffers_;
  const LayerBuffers<T>& own = b.layers[layer];
  const Widths& width = weights_.width();
  const LayerOffsets& at = weights_.offsets().layers[layer];
  const int tokens = b.batch.tokens;
  products_.backward(tokens, width.hidden, width.intermediate, stream_gradient(), own.hidden, weights_.gradient(at.down), weights_.matrix(at.down), b.hidden_gradient);
  T* const gate_up_gradient = own.gate_up;  // in the place of what isn't read again
  swiglu_backward(stream_, tokens, width.intermediate, own.gate_up, b.hidden_gradient, gate_up_gradient, static_cast<T*>(nullptr));
  products_.backward(tokens, 2 * width.intermediate, width.hidden, gate_up_gradient, own.middle_normed, weights_.gradient(at.gate_up), weights_.matrix(at.gate_up),
                     b.normed_gradient);
  norm_backward(stream_, tokens, width.hidden, own.middle, weights_.master(at.mlp_norm), own.middle_rms, b.normed_gradient, b.final_x, weights_.gradient(at.mlp_norm), b.partials);
}

template <class T>
void TrainingPass<T>::attention_backward(int layer) {
  const TrainingBuffers<T>& b = buffers_;
  const LayerBuffers<T>& own = b.layers[layer];
  const Widths& width = weights_.width();
  const LayerOffsets& at = weights_.offsets().layers[layer];
  const int tokens = b.batch.tokens;
  products_.backward(tokens, width.hidden, width.queries, stream_gradient(), own.attended, weights_.gradient(at.output), weights_.matrix(at.output), b.attended_gradient);
  cuda::attention_backward(stream_, attention_shape(width), b.batch.sequences, own.qkv, own.attended, b.attended_gradient, own.log_sum_exp, b.attention_scratch, b.qkv_gradient);
  rope_backward(stream_, tokens, qkv_shape(width), b.qkv_gradient, b.batch.positions, rotary_);
  column_sums(stream_, tokens, width.qkv, b.qkv_gradient, weights_.gradient(at.qkv_bias), b.partials);
  products_.backward(tokens, width.qkv, width.hidden, b.qkv_gradient, own.normed, weights_.gradient(at.qkv), weights_.matrix(at.qkv), b.normed_gradient);
  norm_backward(stream_, tokens, width.hidden, own.x, weights_.master(at.input_norm), own.input_rms, b.normed_gradient, b.final_x, weights_.gradient(at.input_norm), b.partials);
}

template void TrainingPass<Bf16>::chunk_backward(int, int);
template void TrainingPass<float>::chunk_backward(int, int);
template void TrainingPass<Bf16>::blocks_backward();
template void TrainingPass<float>::blocks_backward();

}  // namespace starpo::cuda
