#include "engine/cpu/training_pass.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "engine/cpu/block_forward.h"
#include "engine/cpu/training_state.h"
#include "engine/cpu/kernels/kernels.h"

namespace starpo {

TrainingPass::TrainingPass(const Model& model) : state_(std::make_unique<State>(model)) {}
TrainingPass::~TrainingPass() = default;

void TrainingPass::forward(const PackedBatch& batch, float temperature, std::span<float> logprobs, std::span<float> entropies) {
  State& s = *state_;
  if (logprobs.size() != batch.targets.size() || entropies.size() != batch.targets.size())
    throw std::invalid_argument("log-probabilities and entropies must be [targets]");
  run_blocks(batch);
  s.inverse_temperature = 1.0f / temperature;
  s.model.threads().parallel_for(row_blocks(s.targets), [&](int block) {
    const int first = block * kRowBlock;
    s.head(first, std::min(kRowBlock, s.targets - first), logprobs.data() + first, entropies.data() + first);
  });
}

void TrainingPass::forward_values(const PackedBatch& batch, std::span<float> values) {
  State& s = *state_;
  if (s.model.layout().head() != ModelHead::value) throw std::logic_error("values need a value head");
  if (values.size() != batch.targets.size()) throw std::invalid_argument("values must be [targets]");
  run_blocks(batch);
  s.model.threads().parallel_for(row_blocks(s.targets), [&](int block) {
    const int first = block * kRowBlock;
    s.value_head(first, std::min(kRowBlock, s.targets - first), values.data() + first);
  });
}

std::span<const float> TrainingPass::features() const { return {state_->head_normed, static_cast<std::size_t>(state_->targets) * state_->width.hidden}; }

void TrainingPass::run_blocks(const PackedBatch& batch) {
  State& s = *state_;
  s.prepare(batch);
  ThreadPool& threads = s.model.threads();
  const Widths& width = s.width;
  const int last = static_cast<int>(s.layers.size()) - 1;

  // Between two attentions a row needs no other row: the end of one layer and the beginning of the next are one loop.
  for (int layer = -1; layer <= last; ++layer) {
    threads.parallel_for(row_blocks(s.tokens), [&](int block) {
      const int first = block * kRowBlock, rows = std::min(kRowBlock, s.tokens - first);
      const std::size_t at = first;
      const auto [normed, hidden] =
          carve(thread_memory(), {kRowBlock * static_cast<std::size_t>(width.hidden), kRowBlock * static_cast<std::size_t>(width.intermediate)});
      if (layer < 0) {
        s.embed(first, rows);
      } else {
        const LayerActivations& a = s.layers[layer];
        float* const next = layer == last ? s.final_x : s.layers[layer + 1].x;
        output_and_mlp(s.model, layer, rows, a.x + at * width.hidden, a.attended + at * width.queries, a.middle + at * width.hidden, normed,
                       a.gate_up + at * 2 * width.intermediate, hidden, next + at * width.hidden, a.middle_reciprocal_rms + at);
      }
      if (layer < last) {
        const LayerActivations& a = s.layers[layer + 1];
        project_qkv(s.model, layer + 1, rows, a.x + at * width.hidden, s.positions.data() + at, s.rotary, normed, a.qkv + at * width.qkv,
                    a.input_reciprocal_rms + at);
      }
    });
    if (layer < last)
      threads.parallel_for(s.sequences() * width.kv_heads, [&](int i) { s.attend(layer + 1, i / width.kv_heads, i % width.kv_heads); });
  }
}

float TrainingPass::State::attention_scale() const { return 1.0f / std::sqrt(static_cast<float>(width.head_dim)); }

void TrainingPass::State::prepare(const PackedBatch& next) {
  batch = next;
  tokens = static_cast<int>(batch.tokens.size());
  targets = static_cast<int>(batch.targets.size());
  const auto& starts = batch.sequence_starts;
  if (starts.empty() || starts.front() != 0 || starts.back() != tokens) throw std::invalid_argument("sequence_starts must run from 0 to the number of tokens");
  for (const std::int32_t token : batch.tokens)
    if (token < 0 || token >= width.vocab) throw std::out_of_range("token outside the vocabulary");

  positions.resize(tokens);
  target_tokens.resize(targets);
  target_starts.assign(1, 0);
  longest = 0;
  int target = 0;
  for (int sequence = 0; sequence < sequences(); ++sequence) {
    const int begin = starts[sequence], end = starts[sequence + 1];
    if (end <= begin) throw std::invalid_argument("a sequence is empty");
    longest = std::max(longest, end - begin);
    for (int i = begin; i < end; ++i) positions[i] = i - begin;
    for (int previous = begin; target < targets && batch.targets[target] < end; previous = batch.targets[target++]) {
      if (batch.targets[target] <= previous) throw std::invalid_argument("targets must ascend, and none be a sequence's first token");
      target_tokens[target] = batch.tokens[batch.targets[target]];
    }
    target_starts.push_back(target);
  }
  if (target != targets) throw std::invalid_argument("a target lies outside the tokens");
  const ModelConfig& config = model.layout().config();
  rotary.extend_to(config, longest);

  const std::size_t t = tokens, g = targets, stats = t * width.heads;
  const std::size_t layer_size[] = {t * width.hidden, t, t * width.qkv, stats, stats, t * width.queries, t * width.hidden, t, t * 2 * width.intermediate};
  constexpr std::size_t line = 16;
  std::size_t per_layer = 0;
  for (const std::size_t size : layer_size) per_layer += (size + line - 1) / line * line;
  const auto [blocks, final_rows, rows, rms, normed, logit_rows, maxima, sums, entropy_rows] =
      carve(activations, {per_layer * config.num_hidden_layers, t * width.hidden, g * width.hidden, g, g * width.hidden,
                          g * static_cast<std::size_t>(model.packed().head.outputs), g, g, g});
  final_x = final_rows;
  head_x = rows;
  head_reciprocal_rms = rms;
  head_normed = normed;
  logits = logit_rows;
  logit_maximum = maxima;
  log_sum = sums;
  entropy = entropy_rows;
  layers.clear();
  float* piece = blocks;
  for (int layer = 0; layer < config.num_hidden_layers; ++layer) {
    float* p[std::size(layer_size)];
    for (std::size_t i = 0; i < std::size(layer_size); ++i) {
      p[i] = piece;
      piece += (layer_size[i] + line - 1) / line * line;
    }
    layers.push_back({p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8]});
  }
}

void TrainingPass::State::embed(int first, int rows) {
  const float* const table = model.weights().data() + model.packed().offsets.embedding;
  for (int i = first; i < first + rows; ++i)
    std::copy_n(table + static_cast<std::size_t>(batch.tokens[i]) * width.hidden, width.hidden, layers[0].x + static_cast<std::size_t>(i) * width.hidden);
}

void TrainingPass::State::attend(int layer, int sequence, int kv_head) {
  const LayerActivations& a = layers[layer];
  const int begin = batch.sequence_starts[sequence], length = batch.sequence_starts[sequence + 1] - begin;
  const auto [keys, scores] = carve(thread_memory(), {packed_size(width.head_dim, longest), attention_scratch(longest)});
  const float* const row = a.qkv + static_cast<std::size_t>(begin) * width.qkv;
  const float* const key = row + width.queries + kv_head * width.head_dim;
  pack_transposed(length, width.head_dim, key, width.qkv, keys);
  for (int head = kv_head * width.group; head < (kv_head + 1) * width.group; ++head) {
    AttentionTile tile{};
    tile.rows = length;
    tile.queries = row + head * width.head_dim;
    tile.query_stride = tile.value_stride = width.qkv;
    tile.limit = tile.limit_step = 1;
    tile.transposed_keys = keys;
    tile.values = key + width.keys;
    tile.head_dim = width.head_dim;
    tile.scale = attention_scale();
    tile.output = a.attended + static_cast<std::size_t>(begin) * width.queries + head * width.head_dim;
    tile.output_stride = width.queries;
    tile.scores = scores;
    tile.maximum = a.score_maximum + static_cast<std::size_t>(head) * tokens + begin;
    tile.reciprocal = a.score_reciprocal + static_cast<std::size_t>(head) * tokens + begin;
    kernels().attention(tile);
  }
}

void TrainingPass::State::normed_rows(int first, int rows) {
  const Kernels& k = kernels();
  const std::size_t at = first;
  for (int i = first; i < first + rows; ++i)
    std::copy_n(final_x + static_cast<std::size_t>(batch.targets[i] - 1) * width.hidden, width.hidden, head_x + static_cast<std::size_t>(i) * width.hidden);
  k.norm(rows, width.hidden, head_x + at * width.hidden, model.weights().data() + model.packed().offsets.final_norm,
         model.layout().config().rms_norm_eps, head_normed + at * width.hidden, head_reciprocal_rms + at);
}

void TrainingPass::State::value_head(int first, int rows, float* values) {
  normed_rows(first, rows);
  const float* const bias = model.weights().data() + model.packed().offsets.head_bias;
  multiply_forward(model, model.packed().head, rows, head_normed + static_cast<std::size_t>(first) * width.hidden, bias, 0, values);
}

void TrainingPass::State::head(int first, int rows, float* logprobs, float* entropies) {
  normed_rows(first, rows);
  const Kernels& k = kernels();
  const std::size_t at = first;
  multiply_forward(model, model.packed().head, rows, head_normed + at * width.hidden, nullptr, 0, logits + at * width.vocab);
  k.logprob_entropy(rows, width.vocab, logits + at * width.vocab, inverse_temperature, target_tokens.data() + at, logprobs, entropies,
                    logit_maximum + at, log_sum + at);
  std::copy_n(entropies, rows, entropy + at);
}

}  // namespace starpo
