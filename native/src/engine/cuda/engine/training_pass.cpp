#include "engine/cuda/engine/training_pass.h"

#include <algorithm>
#include <stdexcept>

#include "engine/cuda/kernels/column_sums.h"
#include "engine/cuda/kernels/convert.h"
#include "engine/cuda/kernels/embedding.h"
#include "engine/cuda/kernels/value_head.h"

namespace starpo::cuda {

DeviceBatch::DeviceBatch(Arena& arena, int tokens) : capacity_(tokens) {
  const std::size_t count = tokens;
  for (std::int32_t** each : {&ids, &positions, &target_rows, &target_ids, &order_ids, &order_rows})
    *each = arena.take<std::int32_t>(count);
  order_starts = arena.take<std::int32_t>(count + 1);
  starts_ = arena.take<std::int32_t>(count + 1);
}

void DeviceBatch::upload(Stream& stream, const PackedBatch& batch, int vocab) {
  const auto& starts = batch.sequence_starts;
  tokens = static_cast<int>(batch.tokens.size());
  targets = static_cast<int>(batch.targets.size());
  if (tokens > capacity_) throw std::invalid_argument("the micro-batch is larger than planned");
  if (starts.size() < 2 || starts.front() != 0 || starts.back() != tokens)
    throw std::invalid_argument("sequence_starts must run from 0 to the number of tokens");
  for (const std::int32_t token : batch.tokens)
    if (token < 0 || token >= vocab) throw std::out_of_range("token outside the vocabulary");

  std::vector<std::int32_t> place(batch.tokens.size()), rows, target_tokens;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    if (starts[i + 1] <= starts[i] || starts[i + 1] > tokens)
      throw std::invalid_argument("sequence_starts must ascend to the number of tokens");
    for (std::int32_t token = starts[i]; token < starts[i + 1]; ++token) place[token] = token - starts[i];
  }
  target_counts.assign(starts.size() - 1, 0);
  std::size_t sequence = 0;
  for (const std::int32_t target : batch.targets) {
    const bool ascends = rows.empty() || target - 1 > rows.back();
    if (target < 0 || target >= tokens || place[target] == 0 || !ascends)
      throw std::invalid_argument("targets must ascend, and none be a sequence's first token");
    while (target >= starts[sequence + 1]) ++sequence;
    ++target_counts[sequence];
    rows.push_back(target - 1);
    target_tokens.push_back(batch.tokens[target]);
  }
  const TokenOrder order = order_by_token(batch.tokens);
  unique = static_cast<int>(order.ids.size());

  cuda::upload(stream, ids, batch.tokens);
  cuda::upload(stream, positions, place);
  cuda::upload(stream, target_rows, rows);
  cuda::upload(stream, target_ids, target_tokens);
  cuda::upload(stream, order_ids, order.ids);
  cuda::upload(stream, order_starts, order.starts);
  cuda::upload(stream, order_rows, order.rows);
  cuda::upload(stream, starts_, starts);
  sequences = packed_sequences(starts, starts_);
}

namespace {

// Computes logits in chunks of up to 1 GiB, which keeps products large.
template <class T>
int chunk_rows(int vocab, int tokens) {
  constexpr std::size_t gibibyte = std::size_t{1} << 30;
  const std::size_t rows = gibibyte / (static_cast<std::size_t>(vocab) * (sizeof(float) + sizeof(T)));
  return static_cast<int>(std::clamp<std::size_t>(rows, 16, static_cast<std::size_t>(std::max(16, tokens))));
}

}  // namespace

template <class T>
TrainingBuffers<T>::TrainingBuffers(Arena& arena, const ModelConfig& model, int tokens, bool backward,
                                    Recompute recompute)
    : batch(arena, tokens) {
  const Widths width(model);
  const std::size_t n = tokens, stream_size = n * width.hidden;
  const bool keeps_elementwise = backward && recompute == Recompute::none,
             keeps_products = backward && recompute != Recompute::block;

  // Buffers that are not kept per layer are shared.
  const auto shared_or = [&](bool keeps, auto* shared, std::size_t size) {
    return keeps ? arena.take<std::remove_pointer_t<decltype(shared)>>(size) : shared;
  };
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
  for (float** each :
       {&logprobs, &entropies, &values, &loss_weights, &rollout_logprobs, &advantages, &reference_logprobs})
    *each = arena.take<float>(n);

  if (!backward) return;
  head_gradient = arena.take<T>(stream_size);
  head_x_gradient = arena.take<float>(stream_size);
  logit_gradient = arena.take<T>(static_cast<std::size_t>(chunk) * width.vocab);
  hidden_gradient = arena.take<T>(n * width.intermediate);
  attended_gradient = arena.take<T>(n * width.queries);
  qkv_gradient = arena.take<T>(n * width.qkv);
  normed_gradient = arena.take<T>(stream_size);
  attention_scratch = arena.take<float>(n * width.heads);
  partials =
      arena.take<float>(std::max({norm_backward_partials(tokens, width.hidden), column_sums_partials(tokens, width.qkv),
                                  column_sums_partials(tokens, width.hidden)}));
}

template struct TrainingBuffers<Bf16>;
template struct TrainingBuffers<float>;

namespace {

void check_results(const PackedBatch& batch, std::span<const float> logprobs, std::span<const float> entropies) {
  if (logprobs.size() != batch.targets.size() || entropies.size() != batch.targets.size())
    throw std::invalid_argument("log-probabilities and entropies must be [targets]");
}

}  // namespace

template <class T>
CudaTrainingPass<T>::CudaTrainingPass(Stream& stream, DeviceWeights<T>& weights, const Products<T>& products,
                                      const RotaryTables& rotary, const TrainingBuffers<T>& buffers,
                                      Recompute recompute, bool backward)
    : stream_(stream),
      weights_(weights),
      products_(products),
      rotary_(rotary),
      buffers_(buffers),
      recompute_(recompute),
      backward_(backward) {}

template <class T>
void CudaTrainingPass<T>::forward(const PackedBatch& batch, float temperature, std::span<float> logprobs,
                                  std::span<float> entropies) {
  check_results(batch, logprobs, entropies);
  if (!run_blocks(batch)) return;
  for (int first = 0; first < buffers_.batch.targets; first += buffers_.chunk) {
    const int rows = std::min(buffers_.chunk, buffers_.batch.targets - first);
    logprob_entropy(stream_, chunk_logits(first, rows, temperature), buffers_.batch.target_ids + first,
                    buffers_.logprobs + first, buffers_.entropies + first);
  }
  download(stream_, buffers_.logprobs, logprobs);
  download(stream_, buffers_.entropies, entropies);
}

template <class T>
void CudaTrainingPass<T>::learn(const PackedBatch& batch, float temperature, const BatchLoss& loss,
                                std::span<float> logprobs, std::span<float> entropies, PolicyLossSums& sums) {
  if (!backward_) throw std::logic_error("this network is not trained");
  check_results(batch, logprobs, entropies);
  if (!run_blocks(batch)) return;
  upload_loss(loss);
  TrainingBuffers<T>& b = buffers_;
  for (int first = 0; first < b.batch.targets; first += b.chunk) {
    const int rows = std::min(b.chunk, b.batch.targets - first);
    const Logits<float> logits = chunk_logits(first, rows, temperature);
    const std::int32_t* const targets = b.batch.target_ids + first;
    if (loss.objective == Objective::likelihood) {
      likelihood_loss(stream_, logits, targets, b.loss_weights + first, b.logprobs + first, b.entropies + first);
    } else {
      const float* const reference = loss.kl.coefficient > 0 ? b.reference_logprobs + first : nullptr;
      policy_loss(stream_, logits,
                  {targets, b.loss_weights + first, b.rollout_logprobs + first, b.advantages + first, reference},
                  loss.policy, loss.kl, b.logprobs + first, b.entropies + first);
    }
    chunk_backward(first, rows);
  }
  blocks_backward();
  download(stream_, b.logprobs, logprobs);
  download(stream_, b.entropies, entropies);
  // The host sums the loss in double and in order.
  std::vector<float> logprob_gradients(logprobs.size()), entropy_gradients(logprobs.size());
  loss_gradients(batch, loss, logprobs, entropies, sums, logprob_gradients, entropy_gradients);
}

template <class T>
std::span<const float> CudaTrainingPass<T>::features() const {
  std::vector<T> copy(static_cast<std::size_t>(buffers_.batch.targets) * weights_.width().hidden);
  download(stream_, static_cast<const T*>(buffers_.head_normed), std::span(copy));
  features_.resize(copy.size());
  std::transform(copy.begin(), copy.end(), features_.begin(), [](T value) { return to_float(value); });
  return features_;
}

template <class T>
void CudaTrainingPass<T>::forward_values(const PackedBatch& batch, std::span<float> values) {
  if (weights_.layout().head() != ModelHead::value) throw std::logic_error("values need a value head");
  if (values.size() != batch.targets.size()) throw std::invalid_argument("values must be [targets]");
  if (!run_blocks(batch)) return;
  value_head(stream_, buffers_.batch.targets, weights_.width().hidden, buffers_.head_normed,
             weights_.master(weights_.offsets().head), weights_.master(weights_.offsets().head_bias), buffers_.values);
  download(stream_, buffers_.values, values);
}

template <class T>
void CudaTrainingPass<T>::backward_values(std::span<const float> value_gradients) {
  if (!backward_) throw std::logic_error("this network is not trained");
  TrainingBuffers<T>& b = buffers_;
  const ModelOffsets& at = weights_.offsets();
  if (value_gradients.size() != static_cast<std::size_t>(b.batch.targets))
    throw std::invalid_argument("every value needs a gradient");
  if (value_gradients.empty()) return;
  upload(stream_, b.values, value_gradients);
  value_head_backward(stream_, b.batch.targets, weights_.width().hidden, b.head_normed, weights_.master(at.head),
                      b.values, b.head_gradient, weights_.gradient(at.head), weights_.gradient(at.head_bias),
                      b.partials);
  blocks_backward();
}

template <class T>
void CudaTrainingPass<T>::run_one(int layer, const float* previous, const T* delta) {
  const TrainingBuffers<T>& b = buffers_;
  const LayerBuffers<T>& own = b.layers[layer];
  const Widths& width = weights_.width();
  run_layer(stream_, weights_, products_, layer, b.batch.tokens, previous, delta, own, b.delta, [&](const float* bias) {
    bias_rope(stream_, b.batch.tokens, qkv_shape(width), own.qkv, bias, b.batch.positions, rotary_);
    attention_forward(stream_, attention_shape(width), b.batch.sequences, own.qkv, own.attended, own.log_sum_exp);
  });
}

// Returns false if the batch has no targets.
template <class T>
bool CudaTrainingPass<T>::run_blocks(const PackedBatch& batch) {
  TrainingBuffers<T>& b = buffers_;
  const Widths& width = weights_.width();
  b.batch.upload(stream_, batch, width.vocab);
  const int tokens = b.batch.tokens, targets = b.batch.targets;
  if (targets == 0) return false;
  embed(stream_, tokens, width.hidden, b.batch.ids, weights_.matrix(weights_.offsets().embedding), b.layers[0].x);
  const float* previous = b.layers[0].x;
  const T* delta = nullptr;
  for (int layer = 0; layer < static_cast<int>(b.layers.size()); ++layer) {
    run_one(layer, previous, delta);
    previous = b.layers[layer].middle;
    delta = b.delta;
  }
  const float* const norm = weights_.master(weights_.offsets().final_norm);
  const float epsilon = weights_.layout().config().rms_norm_eps;
  residual_norm(stream_, tokens, width.hidden, previous, delta, b.final_x, norm, epsilon, b.rounded, nullptr);
  gather_rows(stream_, targets, width.hidden, b.final_x, b.batch.target_rows, b.head_x);
  residual_norm(stream_, targets, width.hidden, b.head_x, static_cast<const T*>(nullptr), norm, epsilon, b.head_normed,
                b.head_rms);
  return true;
}

template <class T>
Logits<float> CudaTrainingPass<T>::chunk_logits(int first, int rows, float temperature) {
  const Widths& width = weights_.width();
  products_.forward(rows, width.vocab, width.hidden,
                    buffers_.head_normed + static_cast<std::size_t>(first) * width.hidden,
                    weights_.matrix(weights_.offsets().head), buffers_.logits);
  return {buffers_.logits, rows, width.vocab, width.vocab, temperature};
}

template <class T>
void CudaTrainingPass<T>::upload_loss(const BatchLoss& loss) {
  for (auto* each : {&loss_weights_, &rollout_logprobs_, &advantages_, &reference_logprobs_}) each->clear();
  const auto& starts = buffers_.batch.target_counts;
  if (loss.sequences.size() != starts.size()) throw std::invalid_argument("every sequence needs a loss");
  for (std::size_t i = 0; i < loss.sequences.size(); ++i) {
    const SequenceLoss& sequence = loss.sequences[i];
    loss_weights_.insert(loss_weights_.end(), starts[i], static_cast<float>(sequence.weight));
    rollout_logprobs_.insert(rollout_logprobs_.end(), sequence.rollout_logprobs.begin(),
                             sequence.rollout_logprobs.end());
    advantages_.insert(advantages_.end(), sequence.advantages.begin(), sequence.advantages.end());
    reference_logprobs_.insert(reference_logprobs_.end(), sequence.reference_logprobs.begin(),
                               sequence.reference_logprobs.end());
  }
  const std::size_t targets = loss_weights_.size();
  const auto is_whole = [&](const std::vector<float>& values, bool needed) {
    return values.size() == targets || (values.empty() && !needed);
  };
  const bool policy = loss.objective == Objective::policy;
  if (!is_whole(rollout_logprobs_, policy) || !is_whole(advantages_, policy) ||
      !is_whole(reference_logprobs_, policy && loss.kl.coefficient > 0))
    throw std::invalid_argument("the loss inputs must be [targets]");
  upload(stream_, buffers_.loss_weights, loss_weights_);
  upload(stream_, buffers_.rollout_logprobs, rollout_logprobs_);
  upload(stream_, buffers_.advantages, advantages_);
  upload(stream_, buffers_.reference_logprobs, reference_logprobs_);
}

// Computes the gradients of the head's weights and of its input from the logits' gradient.
template <class T>
void CudaTrainingPass<T>::chunk_backward(int first, int rows) {
  const TrainingBuffers<T>& b = buffers_;
  const Widths& width = weights_.width();
  const std::size_t head = weights_.offsets().head, at = static_cast<std::size_t>(first) * width.hidden;
  convert(stream_, static_cast<std::size_t>(rows) * width.vocab, b.logits, b.logit_gradient);
  products_.backward(rows, width.vocab, width.hidden, b.logit_gradient, b.head_normed + at, weights_.gradient(head),
                     weights_.matrix(head), b.head_gradient + at);
}

template <class T>
void CudaTrainingPass<T>::blocks_backward() {
  const TrainingBuffers<T>& b = buffers_;
  const Widths& width = weights_.width();
  const int tokens = b.batch.tokens, targets = b.batch.targets;
  const std::size_t norm = weights_.offsets().final_norm, row = width.hidden * sizeof(float);
  fill_bytes(stream_, b.head_x_gradient, 0, targets * row);
  norm_backward(stream_, targets, width.hidden, b.head_x, weights_.master(norm), b.head_rms, b.head_gradient,
                b.head_x_gradient, weights_.gradient(norm), b.partials);
  fill_bytes(stream_, b.final_x, 0, tokens * row);
  scatter_rows(stream_, targets, width.hidden, b.head_x_gradient, b.batch.target_rows, b.final_x);
  for (int layer = static_cast<int>(b.layers.size()) - 1; layer >= 0; --layer) layer_backward(layer);
  embedding_gradient(stream_, b.batch.unique, width.hidden, b.batch.order_ids, b.batch.order_starts, b.batch.order_rows,
                     b.final_x, weights_.gradient(weights_.offsets().embedding));
}

template <class T>
void CudaTrainingPass<T>::layer_backward(int layer) {
  const TrainingBuffers<T>& b = buffers_;
  const LayerBuffers<T>& own = b.layers[layer];
  const Widths& width = weights_.width();
  const LayerOffsets& at = weights_.offsets().layers[layer];
  const float epsilon = weights_.layout().config().rms_norm_eps;
  const auto normed_again = [&](float* x, std::size_t norm, T* normed) {
    residual_norm(stream_, b.batch.tokens, width.hidden, x, static_cast<const T*>(nullptr), weights_.master(norm),
                  epsilon, normed, nullptr);
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

// The residual stream's gradient in T, which is also the gradient of each half layer's output.
template <class T>
const T* CudaTrainingPass<T>::stream_gradient() {
  convert(stream_, static_cast<std::size_t>(buffers_.batch.tokens) * weights_.width().hidden, buffers_.final_x,
          buffers_.rounded);
  return buffers_.rounded;
}

template <class T>
void CudaTrainingPass<T>::mlp_backward(int layer) {
  const TrainingBuffers<T>& b = buffers_;
  const LayerBuffers<T>& own = b.layers[layer];
  const Widths& width = weights_.width();
  const LayerOffsets& at = weights_.offsets().layers[layer];
  const int tokens = b.batch.tokens;
  products_.backward(tokens, width.hidden, width.intermediate, stream_gradient(), own.hidden,
                     weights_.gradient(at.down), weights_.matrix(at.down), b.hidden_gradient);
  T* const gate_up_gradient = own.gate_up;  // overwrites values that are not read again
  swiglu_backward(stream_, tokens, width.intermediate, own.gate_up, b.hidden_gradient, gate_up_gradient,
                  static_cast<T*>(nullptr));
  products_.backward(tokens, 2 * width.intermediate, width.hidden, gate_up_gradient, own.middle_normed,
                     weights_.gradient(at.gate_up), weights_.matrix(at.gate_up), b.normed_gradient);
  norm_backward(stream_, tokens, width.hidden, own.middle, weights_.master(at.mlp_norm), own.middle_rms,
                b.normed_gradient, b.final_x, weights_.gradient(at.mlp_norm), b.partials);
}

template <class T>
void CudaTrainingPass<T>::attention_backward(int layer) {
  const TrainingBuffers<T>& b = buffers_;
  const LayerBuffers<T>& own = b.layers[layer];
  const Widths& width = weights_.width();
  const LayerOffsets& at = weights_.offsets().layers[layer];
  const int tokens = b.batch.tokens;
  products_.backward(tokens, width.hidden, width.queries, stream_gradient(), own.attended, weights_.gradient(at.output),
                     weights_.matrix(at.output), b.attended_gradient);
  cuda::attention_backward(stream_, attention_shape(width), b.batch.sequences, own.qkv, own.attended,
                           b.attended_gradient, own.log_sum_exp, b.attention_scratch, b.qkv_gradient);
  rope_backward(stream_, tokens, qkv_shape(width), b.qkv_gradient, b.batch.positions, rotary_);
  column_sums(stream_, tokens, width.qkv, b.qkv_gradient, weights_.gradient(at.qkv_bias), b.partials);
  products_.backward(tokens, width.qkv, width.hidden, b.qkv_gradient, own.normed, weights_.gradient(at.qkv),
                     weights_.matrix(at.qkv), b.normed_gradient);
  norm_backward(stream_, tokens, width.hidden, own.x, weights_.master(at.input_norm), own.input_rms, b.normed_gradient,
                b.final_x, weights_.gradient(at.input_norm), b.partials);
}

template class CudaTrainingPass<Bf16>;
template class CudaTrainingPass<float>;

}  // namespace starpo::cuda
