#include "engine/cuda/engine/training_buffers.h"

#include <algorithm>
#include <stdexcept>

#include "engine/cuda/kernels/column_sums.h"
#include "engine/cuda/kernels/embedding.h"

namespace starpo::cuda {

DeviceBatch::DeviceBatch(Arena& arena, int tokens) : capacity_(tokens) {
  const std::size_t count = tokens;
  for (std::int32_t** each : {&ids, &positions, &target_rows, &target_ids, &order_ids, &order_rows})
    *each = arena.allocate<std::int32_t>(count);
  order_starts = arena.allocate<std::int32_t>(count + 1);
  starts_ = arena.allocate<std::int32_t>(count + 1);
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

  std::vector<std::int32_t> positions_in_sequence(batch.tokens.size()), rows, target_tokens;
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    if (starts[i + 1] <= starts[i] || starts[i + 1] > tokens)
      throw std::invalid_argument("sequence_starts must ascend to the number of tokens");
    for (std::int32_t token = starts[i]; token < starts[i + 1]; ++token)
      positions_in_sequence[token] = token - starts[i];
  }
  target_counts.assign(starts.size() - 1, 0);
  std::size_t sequence = 0;
  for (const std::int32_t target : batch.targets) {
    const bool ascends = rows.empty() || target - 1 > rows.back();
    if (target < 0 || target >= tokens || positions_in_sequence[target] == 0 || !ascends)
      throw std::invalid_argument("targets must ascend, and none may be a sequence's first token");
    while (target >= starts[sequence + 1]) ++sequence;
    ++target_counts[sequence];
    rows.push_back(target - 1);
    target_tokens.push_back(batch.tokens[target]);
  }
  tokens_on_host_ = batch.tokens;
  unique = 0;

  cuda::upload(stream, ids, batch.tokens);
  cuda::upload(stream, positions, positions_in_sequence);
  cuda::upload(stream, target_rows, rows);
  cuda::upload(stream, target_ids, target_tokens);
  cuda::upload(stream, starts_, starts);
  sequences = packed_sequences(starts, starts_);
}

void DeviceBatch::upload_order(Stream& stream) {
  const TokenOrder order = order_by_token(tokens_on_host_);
  unique = static_cast<int>(order.ids.size());
  cuda::upload(stream, order_ids, order.ids);
  cuda::upload(stream, order_starts, order.starts);
  cuda::upload(stream, order_rows, order.rows);
}

namespace {

// Returns the rows per chunk of logits. A chunk takes up to 1 GiB, which keeps the products large.
template <class T>
int chunk_rows(int stride, int tokens) {
  constexpr std::size_t gibibyte = std::size_t{1} << 30;
  const std::size_t rows = gibibyte / (static_cast<std::size_t>(stride) * (sizeof(float) + sizeof(T)));
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

  // Returns a buffer of the layer's own, or the one that all layers share.
  const auto shared_or = [&](bool keeps, auto* shared, std::size_t size) {
    return keeps ? arena.allocate<std::remove_pointer_t<decltype(shared)>>(size) : shared;
  };
  T* const normed = keeps_elementwise ? nullptr : arena.allocate<T>(stream_size);
  T* const middle_normed = keeps_elementwise ? nullptr : arena.allocate<T>(stream_size);
  T* const hidden = keeps_elementwise ? nullptr : arena.allocate<T>(n * width.intermediate);
  LayerBuffers<T> common{};
  if (!keeps_products) {
    common.x = backward ? nullptr : arena.allocate<float>(stream_size);
    common.input_rms = arena.allocate<float>(n);
    common.qkv = arena.allocate<T>(n * width.qkv);
    common.attended = arena.allocate<T>(n * width.queries);
    common.log_sum_exp = arena.allocate<float>(n * width.heads);
    common.middle = backward ? arena.allocate<float>(stream_size) : common.x;
    common.middle_rms = arena.allocate<float>(n);
    common.gate_up = arena.allocate<T>(2 * n * width.intermediate);
  }
  for (int layer = 0; layer < model.num_hidden_layers; ++layer) {
    LayerBuffers<T>& b = layers.emplace_back();
    b.x = shared_or(backward, common.x, stream_size);
    b.input_rms = shared_or(keeps_products, common.input_rms, n);
    b.normed = shared_or(keeps_elementwise, normed, stream_size);
    b.qkv = shared_or(keeps_products, common.qkv, n * width.qkv);
    b.attended = shared_or(keeps_products, common.attended, n * width.queries);
    b.log_sum_exp = shared_or(keeps_products, common.log_sum_exp, n * width.heads);
    b.middle = shared_or(keeps_products, common.middle, stream_size);
    b.middle_rms = shared_or(keeps_products, common.middle_rms, n);
    b.middle_normed = shared_or(keeps_elementwise, middle_normed, stream_size);
    b.gate_up = shared_or(keeps_products, common.gate_up, 2 * n * width.intermediate);
    b.hidden = shared_or(keeps_elementwise, hidden, n * width.intermediate);
  }
  delta = arena.allocate<T>(stream_size);
  final_x = arena.allocate<float>(stream_size);
  rounded = arena.allocate<T>(stream_size);

  head_x = arena.allocate<float>(stream_size);
  head_rms = arena.allocate<float>(n);
  head_normed = arena.allocate<T>(stream_size);
  const int logit_stride = row_stride(width.vocab);
  chunk = chunk_rows<T>(logit_stride, tokens);
  logits = arena.allocate<float>(static_cast<std::size_t>(chunk) * logit_stride);
  for (float** each :
       {&logprobs, &entropies, &values, &loss_weights, &rollout_logprobs, &advantages, &reference_logprobs})
    *each = arena.allocate<float>(n);

  if (!backward) return;
  head_gradient = arena.allocate<T>(stream_size);
  head_x_gradient = arena.allocate<float>(stream_size);
  logit_gradient = arena.allocate<T>(static_cast<std::size_t>(chunk) * logit_stride);
  hidden_gradient = arena.allocate<T>(n * width.intermediate);
  attended_gradient = arena.allocate<T>(n * width.queries);
  qkv_gradient = arena.allocate<T>(n * width.qkv);
  normed_gradient = arena.allocate<T>(stream_size);
  attention_scratch = arena.allocate<float>(n * width.heads);
  partials = arena.allocate<float>(
      std::max({norm_backward_partials(tokens, width.hidden), column_sums_partials(tokens, width.qkv),
                column_sums_partials(tokens, width.hidden)}));
}

template struct TrainingBuffers<Bf16>;
template struct TrainingBuffers<float>;

}  // namespace starpo::cuda
