#include "engine/cuda/engine/training_buffers.h"

#include <algorithm>

#include "engine/cuda/kernels/column_sums.h"

namespace starpo::cuda {
namespace {

// Logits of as many targets at a time as fit a gibibyte, which keeps the products large.
template <class T>
int chunk_rows(int vocab, int tokens) {
  constexpr std::size_t gibibyte = std::size_t{1} << 30;
  const std::size_t rows = gibibyte / (static_cast<std::size_t>(vocab) * (sizeof(float) + sizeof(T)));
  return static_cast<int>(std::clamp<std::size_t>(rows, 16, static_cast<std::size_t>(std::max(16, tokens))));
}

}  // namespace

template <class T>
TrainingBuffers<T>::TrainingBuffers(Arena& arena, const ModelConfig& model, int tokens, bool backward, Recompute recompute) : batch(arena, tokens) {
  const Widths width(model);
  const std::size_t n = tokens, stream_size = n * width.hidden;
  const bool keeps_elementwise = backward && recompute == Recompute::none, keeps_products = backward && recompute != Recompute::block;

  // What isn't kept for each layer is there once.
  const auto shared_or = [&](bool keeps, auto* shared, std::size_t size) { return keeps ? arena.take<std::remove_pointer_t<decltype(shared)>>(size) : shared; };
  T* const normed = keeps_elementwise ? nullptr : arena.take<T>(stream_size);
  T* const middle_normed = keeps_elementwise ? nullptr : arena.take<T>(stream_size);
  T* const hidden = keeps_elementwise ? nullptr : arena.take<T>(n * width.intermediate);
  LayerBuffers<T> once{};
  if (!keeps_products) {
    once.x = backward ? nullptr : arena.take<float>(stream_size);
    once.input_rms = arena.take<float>(n);
    once.qkv = arena.take<T>(n * width.qkv);
    once.attended = arena.take<T>(n * width.queries);
    once.log_sum_exp = arena.take<float>(n * width.heads);
    once.middle = backward ? arena.take<float>(stream_size) : once.x;
    once.middle_rms = arena.take<float>(n);
    once.gate_up = arena.take<T>(2 * n * width.intermediate);
  }
  for (int layer = 0; layer < model.num_hidden_layers; ++layer) {
    LayerBuffers<T>& b = layers.emplace_back();
    b.x = shared_or(backward, once.x, stream_size);
    b.input_rms = shared_or(keeps_products, once.input_rms, n);
    b.normed = shared_or(keeps_elementwise, normed, stream_size);
    b.qkv = shared_or(keeps_products, once.qkv, n * width.qkv);
    b.attended = shared_or(keeps_products, once.attended, n * width.queries);
    b.log_sum_exp = shared_or(keeps_products, once.log_sum_exp, n * width.heads);
    b.middle = shared_or(keeps_products, once.middle, stream_size);
    b.middle_rms = shared_or(keeps_products, once.middle_rms, n);
    b.middle_normed = shared_or(keeps_elementwise, middle_normed, stream_size);
    b.gate_up = shared_or(keeps_products, once.gate_up, 2 * n * width.intermediate);
    b.hidden = shared_or(keeps_elementwise, hidden, n * width.intermediate);
  }
  delta = arena.take<T>(stream_size);
  final_x = arena.take<float>(stream_size);
  rounded = arena.take<T>(stream_size);

  head_x = arena.take<float>(stream_size);
  head_rms = arena.take<float>(n);
  head_normed = arena.take<T>(stream_size);
  chunk = chunk_rows<T>(width.vocab, tokens);
  logits = arena.take<float>(static_cast<std::size_t>(chunk) * width.vocab);
  for (float** each : {&logprobs, &entropies, &values, &loss_weights, &rollout_logprobs, &advantages, &reference_logprobs}) *each = arena.take<float>(n);

  if (!backward) return;
  head_gradient = arena.take<T>(stream_size);
  head_x_gradient = arena.take<float>(stream_size);
  logit_gradient = arena.take<T>(static_cast<std::size_t>(chunk) * width.vocab);
  hidden_gradient = arena.take<T>(n * width.intermediate);
  attended_gradient = arena.take<T>(n * width.queries);
  qkv_gradient = arena.take<T>(n * width.qkv);
  normed_gradient = arena.take<T>(stream_size);
  attention_scratch = arena.take<float>(n * width.heads);
  partials = arena.take<float>(std::max({norm_backward_partials(tokens, width.hidden), column_sums_partials(tokens, width.qkv), column_sums_partials(tokens, width.hidden)}));
}

template struct TrainingBuffers<Bf16>;
template struct TrainingBuffers<float>;

}  // namespace starpo::cuda
