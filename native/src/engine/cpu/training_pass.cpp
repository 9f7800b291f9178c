#include "engine/cpu/training_pass.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "engine/cpu/block.h"
#include "engine/cpu/kernels/kernels.h"
#include "engine/rotary_table.h"

namespace starpo {

namespace {

// Rows per task: enough for the kernels' tiles, few enough for caches and load balance.
constexpr int kRowBlock = 96;
int row_blocks(int rows) { return (rows + kRowBlock - 1) / kRowBlock; }

// Activations of a block kept for the backward pass, which recomputes everything else. With NetworkUse::read all layers
// share one.
struct LayerActivations {
  float* x;                      // [tokens, hidden], the block's input
  float* input_reciprocal_rms;   // [tokens]
  float* qkv;                    // [tokens, Widths::qkv], rotated
  float* score_maximum;          // [heads, tokens]
  float* score_reciprocal;       // [heads, tokens]
  float* attended;               // [tokens, queries]
  float* middle;                 // [tokens, hidden], between attention and MLP
  float* middle_reciprocal_rms;  // [tokens]
  float* gate_up;                // [tokens, 2 * intermediate]
};

// Gradients of a backward pass. Layers reuse all buffers except `x`.
struct BackwardBuffers {
  float* x;           // [tokens, hidden], first of the layer's output, then of its input
  float* middle;      // [tokens, hidden]
  float* mlp_normed;  // [tokens, hidden], with its normed input and hidden units, recomputed
  float* mlp_input;
  float* hidden;       // [tokens, intermediate]
  float* gate_up;      // [tokens, 2 * intermediate]
  float* attended;     // [tokens, queries]
  float* qkv;          // [tokens, Widths::qkv]
  float* normed;       // [tokens, hidden]
  float* input;        // [tokens, hidden], normed input recomputed
  float* head_normed;  // [targets, hidden]
};

// Sizes in floats: of LayerActivations for t tokens, of the head's buffers for g targets, and of BackwardBuffers.
std::array<std::size_t, 9> layer_sizes(const Widths& w, std::size_t t) {
  return {t * w.hidden, t, t * w.qkv, t * w.heads, t * w.heads, t * w.queries, t * w.hidden, t, t * 2 * w.intermediate};
}
std::array<std::size_t, 8> head_sizes(const Widths& w, std::size_t t, std::size_t g, std::size_t outputs) {
  return {t * w.hidden, g * w.hidden, g, g * w.hidden, g * outputs, g, g, g};
}
std::array<std::size_t, 11> backward_sizes(const Widths& w, std::size_t t, std::size_t g) {
  const std::size_t h = t * w.hidden;
  return {h, h, h, h, t * w.intermediate, t * 2 * w.intermediate, t * w.queries, t * w.qkv, h, h, g * w.hidden};
}

}  // namespace

struct CpuTrainingPass::State {
  explicit State(const CpuModel& m) : model(m), width(m.layout().config()) {}

  const CpuModel& model;
  Widths width;
  RotaryTable rotary;
  AlignedBuffer activations, gradients_memory;

  PackedBatch batch;
  float inverse_temperature = 1;
  int tokens = 0, targets = 0, longest = 0;
  std::vector<std::int32_t> positions;      // [tokens]
  std::vector<std::int32_t> target_tokens;  // [targets]
  std::vector<std::int32_t> target_starts;  // [sequences + 1], each sequence's targets
  std::vector<LayerActivations> layers;
  float* final_x;              // [tokens, hidden]
  float* head_x;               // [targets, hidden], the rows that predict targets
  float* head_reciprocal_rms;  // [targets]
  float* head_normed;          // [targets, hidden]
  float* logits;  // [targets, vocab]; replaced by their gradient in backward. Value head: [targets], the values'
                  // gradients
  float *logit_maximum, *log_sum, *entropy;  // [targets]
  BackwardBuffers grad;

  int sequences() const { return static_cast<int>(batch.sequence_starts.size()) - 1; }
  float attention_scale() const;

  void prepare(const PackedBatch&);
  void embed(int first, int rows);
  void attend(int layer, int sequence, int kv_head);
  void normed_rows(int first, int rows);
  void value_head(int first, int rows, float* values);
  void head(int first, int rows, float* logprobs, float* entropies);

  void prepare_backward();
  void logit_gradient(int first, int rows, const float* logprob_gradients, const float* entropy_gradients);
  void head_backward(int first, int rows);
  void mlp_backward(int layer, int first, int rows);
  void attention_backward(int layer, int sequence, int kv_head);
  void input_backward(int layer, int first, int rows);
  void embedding_gradient(int first_row, int rows, float* gradients);
};

CpuTrainingPass::CpuTrainingPass(const CpuModel& model) : state_(std::make_unique<State>(model)) {}
CpuTrainingPass::~CpuTrainingPass() = default;

void CpuTrainingPass::forward(const PackedBatch& batch, float temperature, std::span<float> logprobs,
                              std::span<float> entropies) {
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

void CpuTrainingPass::forward_values(const PackedBatch& batch, std::span<float> values) {
  State& s = *state_;
  if (s.model.layout().head() != ModelHead::value) throw std::logic_error("values need a value head");
  if (values.size() != batch.targets.size()) throw std::invalid_argument("values must be [targets]");
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

  // Rows are independent between two attentions, so the end of a layer and the start of the next are one loop.
  for (int layer = -1; layer <= last; ++layer) {
    threads.parallel_for(row_blocks(s.tokens), [&](int block) {
      const int first = block * kRowBlock, rows = std::min(kRowBlock, s.tokens - first);
      const std::size_t at = first;
      const auto [normed, hidden] = carve(thread_memory(), {kRowBlock * static_cast<std::size_t>(width.hidden),
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
        throw std::invalid_argument("targets must ascend, and none be a sequence's first token");
      target_tokens[target] = batch.tokens[batch.targets[target]];
    }
    target_starts.push_back(target);
  }
  if (target != targets) throw std::invalid_argument("a target is outside the tokens");
  const ModelConfig& config = model.layout().config();
  rotary.extend_to(config, longest);

  const auto layer_size = layer_sizes(width, tokens);
  const auto head_size = head_sizes(width, tokens, targets, model.packed().head.outputs);
  const int kept_layers = model.learns() ? config.num_hidden_layers : 1;
  const auto [blocks, final_rows, rows, rms, normed, logit_rows, maxima, sums, entropy_rows] =
      carve(activations, {carved_size(layer_size) * kept_layers, head_size[0], head_size[1], head_size[2], head_size[3],
                          head_size[4], head_size[5], head_size[6], head_size[7]});
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
    const auto p = pieces_of(blocks + carved_size(layer_size) * (layer % kept_layers), layer_size);
    layers.push_back({p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8]});
  }
}

CpuTrainingPass::Bytes CpuTrainingPass::bytes(const ModelConfig& config, ModelHead head, int tokens, NetworkUse use) {
  const Widths width(config);
  const bool learns = use == NetworkUse::trained;
  const std::size_t outputs = head == ModelHead::value ? 1 : width.vocab,
                    logits = static_cast<std::size_t>(tokens) * outputs;
  std::size_t floats = carved_size(layer_sizes(width, tokens)) * (learns ? config.num_hidden_layers : 1) +
                       carved_size(head_sizes(width, tokens, tokens, outputs)) - logits;
  if (learns) floats += carved_size(backward_sizes(width, tokens, tokens));
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
      carve(thread_memory(), {packed_size(width.head_dim, longest), attention_scratch(longest)});
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

namespace {

// Rows and columns of a weight gradient per task.
constexpr int kGradientRows = 48, kGradientColumns = 64;

// gradient[rows, columns] += sum over tokens of output_gradient[token, row] * input[token, column].
struct WeightGradient {
  int rows, columns, tokens;
  const float* output_gradient;
  const float* input;
  float* gradient;

  int tasks() const { return (rows + kGradientRows - 1) / kGradientRows; }
  void run(int task) const {
    const int first = task * kGradientRows;
    kernels().accumulate_transposed(std::min(kGradientRows, rows - first), columns, tokens, output_gradient + first,
                                    rows, input, columns, gradient + static_cast<std::size_t>(first) * columns,
                                    columns);
  }
};

struct NormGradient {
  int columns, tokens;
  const float *x, *reciprocal_rms, *output_gradient;
  float* gradient;

  int tasks() const { return (columns + kGradientColumns - 1) / kGradientColumns; }
  void run(int task) const {
    const int first = task * kGradientColumns;
    kernels().norm_weight_gradient(tokens, std::min(kGradientColumns, columns - first), columns, x + first,
                                   reciprocal_rms, output_gradient + first, gradient + first);
  }
};

struct BiasGradient {
  int columns, tokens;
  const float* output_gradient;
  float* gradient;

  int tasks() const { return (columns + kGradientColumns - 1) / kGradientColumns; }
  void run(int task) const {
    const int first = task * kGradientColumns;
    kernels().column_sums(tokens, std::min(kGradientColumns, columns - first), output_gradient + first, columns,
                          gradient + first);
  }
};

template <class F>
struct Tasks {
  int count;
  F body;
  int tasks() const { return count; }
  void run(int task) const { body(task); }
};
template <class F>
Tasks(int, F) -> Tasks<F>;

// Runs independent tasks as one parallel loop, in the order in which threads claim them.
template <class... Parts>
void run_together(ThreadPool& threads, const Parts&... parts) {
  threads.parallel_for((parts.tasks() + ...), [&](int task) {
    const auto try_part = [&task](const auto& part) {
      if (task < part.tasks()) return part.run(task), true;
      task -= part.tasks();
      return false;
    };
    (try_part(parts) || ...);
  });
}

template <class F>
auto over_rows(int rows, F body) {
  return Tasks{row_blocks(rows),
               [rows, body](int block) { body(block * kRowBlock, std::min(kRowBlock, rows - block * kRowBlock)); }};
}

}  // namespace

void CpuTrainingPass::backward(std::span<const float> logprob_gradients, std::span<const float> entropy_gradients,
                               std::span<float> gradients) {
  const State& s = *state_;
  if (logprob_gradients.size() != static_cast<std::size_t>(s.targets) ||
      entropy_gradients.size() != logprob_gradients.size())
    throw std::invalid_argument("gradients of log-probabilities and entropies must be [targets]");
  run_backward(logprob_gradients.data(), entropy_gradients.data(), gradients);
}

void CpuTrainingPass::backward_values(std::span<const float> value_gradients, std::span<float> gradients) {
  const State& s = *state_;
  if (s.layers.empty()) throw std::logic_error("backward needs its own forward pass");
  if (value_gradients.size() != static_cast<std::size_t>(s.targets))
    throw std::invalid_argument("gradients of values must be [targets]");
  std::copy(value_gradients.begin(), value_gradients.end(), s.logits);
  run_backward(nullptr, nullptr, gradients);
}

// Without log-probability gradients, the gradients of the head's outputs are already in `logits`.
void CpuTrainingPass::run_backward(const float* logprob_gradients, const float* entropy_gradients,
                                   std::span<float> gradients) {
  State& s = *state_;
  if (!s.model.learns()) throw std::logic_error("this network is not trained");
  if (s.layers.empty()) throw std::logic_error("backward needs its own forward pass");
  if (gradients.size() != s.model.layout().size()) throw std::invalid_argument("gradients must have the layout's size");
  s.prepare_backward();
  ThreadPool& threads = s.model.threads();
  const Widths& w = s.width;
  const ModelOffsets& offsets = s.model.packed().offsets;
  const BackwardBuffers& g = s.grad;
  const int t = s.tokens;
  float* const sum = gradients.data();

  std::fill_n(g.x, static_cast<std::size_t>(t) * w.hidden, 0.0f);
  run_together(threads, over_rows(s.targets, [&](int first, int rows) {
                 if (logprob_gradients != nullptr)
                   s.logit_gradient(first, rows, logprob_gradients + first, entropy_gradients + first);
                 s.head_backward(first, rows);
               }));
  for (int layer = static_cast<int>(s.layers.size()) - 1; layer >= 0; --layer) {
    const LayerActivations& a = s.layers[layer];
    const LayerOffsets& at = offsets.layers[layer];
    run_together(threads, over_rows(t, [&](int first, int rows) { s.mlp_backward(layer, first, rows); }));
    run_together(
        threads,
        Tasks{s.sequences() * w.kv_heads, [&](int i) { s.attention_backward(layer, i / w.kv_heads, i % w.kv_heads); }},
        WeightGradient{2 * w.intermediate, w.hidden, t, g.gate_up, g.mlp_input, sum + at.gate_up},
        WeightGradient{w.hidden, w.intermediate, t, g.x, g.hidden, sum + at.down},
        WeightGradient{w.hidden, w.queries, t, g.middle, a.attended, sum + at.output},
        NormGradient{w.hidden, t, a.middle, a.middle_reciprocal_rms, g.mlp_normed, sum + at.mlp_norm});
    run_together(threads, over_rows(t, [&](int first, int rows) { s.input_backward(layer, first, rows); }));
    run_together(threads, WeightGradient{w.qkv, w.hidden, t, g.qkv, g.input, sum + at.qkv},
                 BiasGradient{w.qkv, t, g.qkv, sum + at.qkv_bias},
                 NormGradient{w.hidden, t, a.x, a.input_reciprocal_rms, g.normed, sum + at.input_norm});
  }
  const NormGradient final_norm{
      w.hidden, s.targets, s.head_x, s.head_reciprocal_rms, g.head_normed, sum + offsets.final_norm};
  const Tasks embedding{(w.vocab + kGradientRows - 1) / kGradientRows, [&](int i) {
                          s.embedding_gradient(i * kGradientRows, std::min(kGradientRows, w.vocab - i * kGradientRows),
                                               sum);
                        }};
  if (s.model.layout().head() == ModelHead::value)
    run_together(threads, embedding, final_norm,
                 WeightGradient{1, w.hidden, s.targets, s.logits, s.head_normed, sum + offsets.head},
                 BiasGradient{1, s.targets, s.logits, sum + offsets.head_bias});
  else if (offsets.head == offsets.embedding)
    run_together(threads, embedding, final_norm);
  else
    run_together(threads, embedding, final_norm,
                 WeightGradient{w.vocab, w.hidden, s.targets, s.logits, s.head_normed, sum + offsets.head});
  s.layers.clear();  // logits were overwritten
}

void CpuTrainingPass::State::prepare_backward() {
  const auto sizes = backward_sizes(width, tokens, targets);
  gradients_memory.reserve(carved_size(sizes));
  const auto p = pieces_of(gradients_memory.data(), sizes);
  grad = {p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10]};
}

void CpuTrainingPass::State::logit_gradient(int first, int rows, const float* logprob_gradients,
                                            const float* entropy_gradients) {
  const std::size_t at = first;
  kernels().logit_gradient(rows, width.vocab, logits + at * width.vocab, inverse_temperature, target_tokens.data() + at,
                           entropy + at, logit_maximum + at, log_sum + at, logprob_gradients, entropy_gradients);
}

void CpuTrainingPass::State::head_backward(int first, int rows) {
  const Kernels& k = kernels();
  const std::size_t at = first, hidden = width.hidden;
  const int outputs = model.packed().head.outputs;
  const auto [x_gradient, none] = carve(thread_memory(), {kRowBlock * hidden, kRowBlock * hidden});
  std::fill_n(none, rows * hidden, 0.0f);
  multiply_backward(model, model.packed().head, rows, logits + at * outputs, grad.head_normed + at * hidden);
  k.norm_backward(rows, width.hidden, head_x + at * hidden, model.weights().data() + model.packed().offsets.final_norm,
                  head_reciprocal_rms + at, grad.head_normed + at * hidden, none, x_gradient, nullptr);
  for (int i = 0; i < rows; ++i)
    std::copy_n(x_gradient + i * hidden, hidden,
                grad.x + static_cast<std::size_t>(batch.targets[first + i] - 1) * hidden);
}

// Computes the gradients of `middle` and of the attended values from that of the block's output.
void CpuTrainingPass::State::mlp_backward(int layer, int first, int rows) {
  const Kernels& k = kernels();
  const LayerActivations& a = layers[layer];
  const PackedLayer& packed = model.packed().layers[layer];
  const std::size_t at = first, hidden = at * width.hidden, intermediate = at * width.intermediate;
  const auto [hidden_gradient] = carve(thread_memory(), {kRowBlock * static_cast<std::size_t>(width.intermediate)});
  multiply_backward(model, packed.down, rows, grad.x + hidden, hidden_gradient);
  k.swiglu_backward(rows, width.intermediate, a.gate_up + 2 * intermediate, hidden_gradient,
                    grad.gate_up + 2 * intermediate, grad.hidden + intermediate);
  multiply_backward(model, packed.gate_up, rows, grad.gate_up + 2 * intermediate, grad.mlp_normed + hidden);
  k.norm_backward(rows, width.hidden, a.middle + hidden,
                  model.weights().data() + model.packed().offsets.layers[layer].mlp_norm, a.middle_reciprocal_rms + at,
                  grad.mlp_normed + hidden, grad.x + hidden, grad.middle + hidden, grad.mlp_input + hidden);
  multiply_backward(model, packed.output, rows, grad.middle + hidden, grad.attended + at * width.queries);
}

void CpuTrainingPass::State::attention_backward(int layer, int sequence, int kv_head) {
  const LayerActivations& a = layers[layer];
  const std::size_t begin = batch.sequence_starts[sequence];
  const int length = batch.sequence_starts[sequence + 1] - static_cast<int>(begin), dim = width.head_dim;
  const auto [keys, values, scratch] = carve(
      thread_memory(), {packed_size(dim, longest), packed_size(dim, longest), attention_backward_scratch(longest)});
  const int key_column = width.queries + kv_head * dim, value_column = key_column + width.keys;
  const float* const rows = a.qkv + begin * width.qkv;
  float* const gradient_rows = grad.qkv + begin * width.qkv;
  pack_transposed(length, dim, rows + key_column, width.qkv, keys);
  pack_transposed(length, dim, rows + value_column, width.qkv, values);
  for (int i = 0; i < length; ++i) {
    float* const row = gradient_rows + static_cast<std::size_t>(i) * width.qkv;
    std::fill_n(row + key_column, dim, 0.0f);
    std::fill_n(row + value_column, dim, 0.0f);
  }
  for (int head = kv_head * width.group; head < (kv_head + 1) * width.group; ++head) {
    AttentionBackward task{};
    task.length = length;
    task.head_dim = dim;
    task.scale = attention_scale();
    task.stride = width.qkv;
    task.queries = rows + head * dim;
    task.keys = rows + key_column;
    task.values = rows + value_column;
    task.transposed_keys = keys;
    task.transposed_values = values;
    task.output_stride = width.queries;
    task.output = a.attended + begin * width.queries + head * dim;
    task.output_gradient = grad.attended + begin * width.queries + head * dim;
    task.maximum = a.score_maximum + static_cast<std::size_t>(head) * tokens + begin;
    task.reciprocal = a.score_reciprocal + static_cast<std::size_t>(head) * tokens + begin;
    task.query_gradient = gradient_rows + head * dim;
    task.key_gradient = gradient_rows + key_column;
    task.value_gradient = gradient_rows + value_column;
    task.scratch = scratch;
    kernels().attention_backward(task);
  }
}

// Computes the gradient of the block's input from those of queries, keys and values.
void CpuTrainingPass::State::input_backward(int layer, int first, int rows) {
  const Kernels& k = kernels();
  const LayerActivations& a = layers[layer];
  const std::size_t at = first, hidden = at * width.hidden;
  float* const qkv = grad.qkv + at * width.qkv;
  k.rotate(rows, qkv, width.qkv, width.heads + width.kv_heads, width.head_dim, positions.data() + at,
           rotary.cosines.data(), rotary.sines.data(), -1.0f);
  multiply_backward(model, model.packed().layers[layer].qkv, rows, qkv, grad.normed + hidden);
  k.norm_backward(rows, width.hidden, a.x + hidden,
                  model.weights().data() + model.packed().offsets.layers[layer].input_norm, a.input_reciprocal_rms + at,
                  grad.normed + hidden, grad.middle + hidden, grad.x + hidden, grad.input + hidden);
}

// Adds gradients of vocabulary rows [first_row, first_row + rows). If tied, adds per sequence the head's, then the
// embedding's gradient, so that splitting into micro-batches changes no bit.
void CpuTrainingPass::State::embedding_gradient(int first_row, int rows, float* gradients) {
  const Kernels& k = kernels();
  const std::size_t hidden = width.hidden;
  float* const rows_gradient = gradients + model.packed().offsets.embedding + first_row * hidden;
  const bool tied = model.packed().offsets.head == model.packed().offsets.embedding;
  for (int sequence = 0; sequence < sequences(); ++sequence) {
    const std::size_t target = target_starts[sequence];
    const int count = target_starts[sequence + 1] - static_cast<int>(target);
    if (tied && count > 0)
      k.accumulate_transposed(rows, width.hidden, count, logits + target * width.vocab + first_row, width.vocab,
                              head_normed + target * hidden, width.hidden, rows_gradient, width.hidden);
    for (std::size_t i = batch.sequence_starts[sequence];
         i < static_cast<std::size_t>(batch.sequence_starts[sequence + 1]); ++i) {
      const int row = batch.tokens[i] - first_row;
      if (row >= 0 && row < rows) k.add(hidden, grad.x + i * hidden, rows_gradient + row * hidden);
    }
  }
}

}  // namespace starpo
