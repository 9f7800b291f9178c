#include "engine/cpu/training_pass.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "engine/cpu/block.h"
#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/training_state.h"

namespace starpo {

CpuTrainingPass::CpuTrainingPass(const CpuModel& model) : state_(std::make_unique<State>(model)) {}
CpuTrainingPass::~CpuTrainingPass() = default;

void CpuTrainingPass::forward(const PackedBatch& batch, float temperature, std::span<float> logprobs,
                              std::span<float> entropies) {
  State& s = *state_;
  if (logprobs.size() != batch.targets.size() || entropies.size() != batch.targets.size())
    throw std::invalid_argument("log-probabilities and entropies must have shape [targets]");
  run_blocks(batch);
  s.inverse_temperature = 1.0f / temperature;
  s.model.threads().parallel_for(row_blocks(s.targets), [&](int block) {
    const int first = block * kRowBlock;
    s.head(first, std::min(kRowBlock, s.targets - first), logprobs.data() + first, entropies.data() + first);
  });
}

void CpuTrainingPass::forward_values(const PackedBatch& batch, std::span<float> values) {
  State& s = *state_;
  if (s.model.layout().head() != ModelHead::value) throw std::logic_error("forward_values requires a value head");
  if (values.size() != batch.targets.size()) throw std::invalid_argument("values must have shape [targets]");
  run_blocks(batch);
  s.model.threads().parallel_for(row_blocks(s.targets), [&](int block) {
    const int first = block * kRowBlock;
    s.value_head(first, std::min(kRowBlock, s.targets - first), values.data() + first);
  });
}

std::span<const float> CpuTrainingPass::features() const {
  return {state_->head_normed, static_cast<std::size_t>(state_->targets) * state_->width.hidden};
}

void CpuTrainingPass::run_blocks(const PackedBatch& batch) {
  State& s = *state_;
  s.prepare(batch);
  ThreadPool& threads = s.model.threads();
  const Widths& width = s.width;
  const int last = static_cast<int>(s.layers.size()) - 1;

  // Between two attentions, rows don't depend on each other, so the end of a layer and the start of the next share a
  // loop.
  for (int layer = -1; layer <= last; ++layer) {
    threads.parallel_for(row_blocks(s.tokens), [&](int block) {
      const int first = block * kRowBlock, rows = std::min(kRowBlock, s.tokens - first);
      const std::size_t at = first;
      const auto [normed, hidden] =
          split_buffer(thread_memory(), {kRowBlock * static_cast<std::size_t>(width.hidden),
                                         kRowBlock * static_cast<std::size_t>(width.intermediate)});
      if (layer < 0) {
        s.embed(first, rows);
      } else {
        const LayerActivations& a = s.layers[layer];
        float* const next = layer == last ? s.final_x : s.layers[layer + 1].x;
        output_and_mlp(s.model, layer, rows, a.x + at * width.hidden, a.attended + at * width.queries,
                       a.middle + at * width.hidden, normed, a.gate_up + at * 2 * width.intermediate, hidden,
                       next + at * width.hidden, a.middle_reciprocal_rms + at);
      }
      if (layer < last) {
        const LayerActivations& a = s.layers[layer + 1];
        project_qkv(s.model, layer + 1, rows, a.x + at * width.hidden, s.positions.data() + at, s.rotary, normed,
                    a.qkv + at * width.qkv, a.input_reciprocal_rms + at);
      }
    });
    if (layer < last)
      threads.parallel_for(s.sequences() * width.kv_heads,
                           [&](int i) { s.attend(layer + 1, i / width.kv_heads, i % width.kv_heads); });
  }
}

float CpuTrainingPass::State::attention_scale() const { return 1.0f / std::sqrt(static_cast<float>(width.head_dim)); }

void CpuTrainingPass::State::prepare(const PackedBatch& next) {
  batch = next;
  tokens = static_cast<int>(batch.tokens.size());
  targets = static_cast<int>(batch.targets.size());
  const auto& starts = batch.sequence_starts;
  if (starts.empty() || starts.front() != 0 || starts.back() != tokens)
    throw std::invalid_argument("sequence_starts must run from 0 to the number of tokens");
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
      if (batch.targets[target] <= previous)
        throw std::invalid_argument("targets must ascend, and none may be a sequence's first token");
      target_tokens[target] = batch.tokens[batch.targets[target]];
    }
    target_starts.push_back(target);
  }
  if (target != targets) throw std::invalid_argument("a target is outside the tokens");
  const ModelConfig& config = model.layout().config();
  rotary.extend_to(config, longest);

  const auto layer_size = layer_sizes(width, tokens);
  const auto head_size = head_sizes(width, tokens, targets, model.packed().head.outputs);
  const int kept_layers = model.is_trained() ? config.num_hidden_layers : 1;
  const auto [blocks, final_rows, rows, rms, normed, logit_rows, maxima, sums, entropy_rows] =
      split_buffer(activations, {buffers_size(layer_size) * kept_layers, head_size[0], head_size[1], head_size[2],
                                 head_size[3], head_size[4], head_size[5], head_size[6], head_size[7]});
  final_x = final_rows;
  head_x = rows;
  head_reciprocal_rms = rms;
  head_normed = normed;
  logits = logit_rows;
  logit_maximum = maxima;
  log_sum = sums;
  entropy = entropy_rows;
  layers.clear();
  for (int layer = 0; layer < config.num_hidden_layers; ++layer) {
    const auto p = split_memory(blocks + buffers_size(layer_size) * (layer % kept_layers), layer_size);
    layers.push_back({p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8]});
  }
}

CpuTrainingPass::Bytes CpuTrainingPass::bytes(const ModelConfig& config, ModelHead head, int tokens, NetworkUse use) {
  const Widths width(config);
  const bool is_trained = use == NetworkUse::trained;
  const std::size_t outputs = head == ModelHead::value ? 1 : width.vocab,
                    logits = static_cast<std::size_t>(tokens) * outputs;
  std::size_t floats = buffers_size(layer_sizes(width, tokens)) * (is_trained ? config.num_hidden_layers : 1) +
                       buffers_size(head_sizes(width, tokens, tokens, outputs)) - logits;
  if (is_trained) floats += buffers_size(backward_sizes(width, tokens, tokens));
  return {static_cast<std::int64_t>(floats * sizeof(float)), static_cast<std::int64_t>(logits * sizeof(float))};
}

void CpuTrainingPass::State::embed(int first, int rows) {
  const float* const table = model.weights().data() + model.packed().offsets.embedding;
  for (int i = first; i < first + rows; ++i)
    std::copy_n(table + static_cast<std::size_t>(batch.tokens[i]) * width.hidden, width.hidden,
                layers[0].x + static_cast<std::size_t>(i) * width.hidden);
}

void CpuTrainingPass::State::attend(int layer, int sequence, int kv_head) {
  const LayerActivations& a = layers[layer];
  const int begin = batch.sequence_starts[sequence], length = batch.sequence_starts[sequence + 1] - begin;
  const auto [keys, scores] =
      split_buffer(thread_memory(), {packed_size(width.head_dim, longest), attention_scratch(longest)});
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

void CpuTrainingPass::State::normed_rows(int first, int rows) {
  const Kernels& k = kernels();
  const std::size_t at = first;
  for (int i = first; i < first + rows; ++i)
    std::copy_n(final_x + static_cast<std::size_t>(batch.targets[i] - 1) * width.hidden, width.hidden,
                head_x + static_cast<std::size_t>(i) * width.hidden);
  k.norm(rows, width.hidden, head_x + at * width.hidden, model.weights().data() + model.packed().offsets.final_norm,
         model.layout().config().rms_norm_eps, head_normed + at * width.hidden, head_reciprocal_rms + at);
}

void CpuTrainingPass::State::value_head(int first, int rows, float* values) {
  normed_rows(first, rows);
  const float* const bias = model.weights().data() + model.packed().offsets.head_bias;
  multiply_forward(model, model.packed().head, rows, head_normed + static_cast<std::size_t>(first) * width.hidden, bias,
                   0, values);
}

void CpuTrainingPass::State::head(int first, int rows, float* logprobs, float* entropies) {
  normed_rows(first, rows);
  const Kernels& k = kernels();
  const std::size_t at = first;
  multiply_forward(model, model.packed().head, rows, head_normed + at * width.hidden, nullptr, 0,
                   logits + at * width.vocab);
  k.logprob_entropy(rows, width.vocab, logits + at * width.vocab, inverse_temperature, target_tokens.data() + at,
                    logprobs, entropies, logit_maximum + at, log_sum + at);
  std::copy_n(entropies, rows, entropy + at);
}

}  // namespace starpo
