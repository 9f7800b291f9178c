#include <algorithm>
#include <stdexcept>

#include "engine/cpu/block.h"
#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/training_state.h"

namespace starpo {
namespace {

// Rows of a weight gradient, and columns of a norm or bias gradient, per task.
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

// Runs the independent tasks of all parts in one parallel loop.
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

// Returns tasks that call body(first, rows) for blocks of rows.
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
    throw std::invalid_argument("gradients of log-probabilities and entropies must have shape [targets]");
  run_backward(logprob_gradients.data(), entropy_gradients.data(), gradients);
}

void CpuTrainingPass::backward_values(std::span<const float> value_gradients, std::span<float> gradients) {
  const State& s = *state_;
  if (s.layers.empty()) throw std::logic_error("call forward before backward");
  if (value_gradients.size() != static_cast<std::size_t>(s.targets))
    throw std::invalid_argument("value gradients must have shape [targets]");
  std::copy(value_gradients.begin(), value_gradients.end(), s.logits);
  run_backward(nullptr, nullptr, gradients);
}

// If logprob_gradients is null, `logits` already contains the gradients of the head's outputs.
void CpuTrainingPass::run_backward(const float* logprob_gradients, const float* entropy_gradients,
                                   std::span<float> gradients) {
  State& s = *state_;
  if (!s.model.is_trained()) throw std::logic_error("this network is not trained");
  if (s.layers.empty()) throw std::logic_error("call forward before backward");
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
  gradients_memory.reserve(buffers_size(sizes));
  const auto p = split_memory(gradients_memory.data(), sizes);
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
  const auto [x_gradient, zeros] = split_buffer(thread_memory(), {kRowBlock * hidden, kRowBlock * hidden});
  std::fill_n(zeros, rows * hidden, 0.0f);
  multiply_backward(model, model.packed().head, rows, logits + at * outputs, grad.head_normed + at * hidden);
  k.norm_backward(rows, width.hidden, head_x + at * hidden, model.weights().data() + model.packed().offsets.final_norm,
                  head_reciprocal_rms + at, grad.head_normed + at * hidden, zeros, x_gradient, nullptr);
  for (int i = 0; i < rows; ++i)
    std::copy_n(x_gradient + i * hidden, hidden,
                grad.x + static_cast<std::size_t>(batch.targets[first + i] - 1) * hidden);
}

// Computes the gradients of `middle` and `attended` from the gradient of the block's output.
void CpuTrainingPass::State::mlp_backward(int layer, int first, int rows) {
  const Kernels& k = kernels();
  const LayerActivations& a = layers[layer];
  const PackedLayer& packed = model.packed().layers[layer];
  const std::size_t at = first, hidden = at * width.hidden, intermediate = at * width.intermediate;
  const auto [hidden_gradient] =
      split_buffer(thread_memory(), {kRowBlock * static_cast<std::size_t>(width.intermediate)});
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
  const auto [keys, values, scratch] = split_buffer(
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

// Computes the gradient of the block's input from the gradients of queries, keys and values.
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

// Adds the gradients of vocabulary rows [first_row, first_row + rows). If head and embedding are tied, adds the
// gradient of the head and then of the embedding for each sequence, so that splitting into micro-batches changes no
// bit.
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
