#include "model/model.h"

#include <algorithm>
#include <stdexcept>

#include "model/packed_weights.h"
#include "ops/cpu/kernels.h"

namespace starpo {

AlignedBuffer& thread_memory() {
  thread_local AlignedBuffer memory;
  return memory;
}

void pack_transposed(int rows, int columns, const float* matrix, std::ptrdiff_t stride, float* packed) {
  for (int first = 0; first < rows; first += kPanel, packed += static_cast<std::size_t>(columns) * kPanel) {
    const int count = std::min(rows - first, kPanel);
    for (int r = 0; r < kPanel; ++r) {
      const float* const row = matrix + (first + r) * stride;
      for (int c = 0; c < columns; ++c) packed[c * kPanel + r] = r < count ? row[c] : 0.0f;
    }
  }
}

namespace {

void pack_rows(int rows, int columns, const float* matrix, float* packed) {
  for (int first = 0; first < columns; first += kPanel)
    for (int r = 0; r < rows; ++r, packed += kPanel)
      for (int c = 0; c < kPanel; ++c) packed[c] = first + c < columns ? matrix[static_cast<std::size_t>(r) * columns + first + c] : 0.0f;
}

}  // namespace

struct Model::State {
  State(const ModelConfig& config, ThreadPool& pool, ModelHead head) : layout(config, head), threads(pool), weights(layout.size()) {}

  ParameterLayout layout;
  ThreadPool& threads;
  std::vector<float> weights;
  Packed packed;
  std::vector<std::pair<PackedMatrix*, std::size_t>> matrices;  // with their offsets in weights
};

Model::Model(const ModelConfig& config, ThreadPool& pool, ModelHead head) : state_(std::make_unique<State>(config, pool, head)) {
  const Widths width(config);
  Packed& packed = state_->packed;
  packed.offsets = model_offsets(state_->layout);
  packed.layers.resize(packed.offsets.layers.size());
  const auto declare = [this](PackedMatrix& matrix, int outputs, int inputs, std::size_t offset) {
    matrix.outputs = outputs;
    matrix.inputs = inputs;
    state_->matrices.emplace_back(&matrix, offset);
  };
  for (std::size_t i = 0; i < packed.layers.size(); ++i) {
    const LayerOffsets& at = packed.offsets.layers[i];
    declare(packed.layers[i].qkv, width.qkv, width.hidden, at.qkv);
    declare(packed.layers[i].output, width.hidden, width.queries, at.output);
    declare(packed.layers[i].gate_up, 2 * width.intermediate, width.hidden, at.gate_up);
    declare(packed.layers[i].down, width.hidden, width.intermediate, at.down);
  }
  declare(packed.head, head == ModelHead::value ? 1 : width.vocab, width.hidden, packed.offsets.head);

  std::size_t total = 0;
  for (const auto& [matrix, offset] : state_->matrices)
    total += packed_size(matrix->inputs, matrix->outputs) + packed_size(matrix->outputs, matrix->inputs);
  packed.memory.reserve(total);
  float* next = packed.memory.data();
  for (const auto& [matrix, offset] : state_->matrices) {
    matrix->forward = next;
    next += packed_size(matrix->inputs, matrix->outputs);
    matrix->backward = next;
    next += packed_size(matrix->outputs, matrix->inputs);
  }
}

Model::~Model() = default;

const ParameterLayout& Model::layout() const { return state_->layout; }
ThreadPool& Model::threads() const { return state_->threads; }
std::span<const float> Model::weights() const { return state_->weights; }
std::span<float> Model::mutable_weights() { return state_->weights; }
const Model::Packed& Model::packed() const { return state_->packed; }

void Model::weights_changed() {
  const auto& matrices = state_->matrices;
  state_->threads.parallel_for(static_cast<int>(2 * matrices.size()), [&](int i) {
    const auto& [matrix, offset] = matrices[i / 2];
    const float* const weights = state_->weights.data() + offset;
    if (i % 2 == 0)
      pack_transposed(matrix->outputs, matrix->inputs, weights, matrix->inputs, matrix->forward);
    else
      pack_rows(matrix->outputs, matrix->inputs, weights, matrix->backward);
  });
}

void logprob_and_entropy(std::span<const float> logits, int vocab, std::span<const std::int32_t> targets, float temperature,
                         std::span<float> logprobs, std::span<float> entropies, ThreadPool& threads) {
  const int rows = static_cast<int>(targets.size());
  if (logits.size() != targets.size() * static_cast<std::size_t>(vocab) || logprobs.size() != targets.size() || entropies.size() != targets.size())
    throw std::invalid_argument("logprob_and_entropy: sizes differ");
  constexpr int block = 16;
  threads.parallel_for((rows + block - 1) / block, [&](int i) {
    const int first = i * block;
    kernels().logprob_entropy(std::min(block, rows - first), vocab, logits.data() + static_cast<std::size_t>(first) * vocab, 1.0f / temperature,
                              targets.data() + first, logprobs.data() + first, entropies.data() + first, nullptr, nullptr);
  });
}

}  // namespace starpo
