#include "engine/cpu/model.h"

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
#include "engine/cpu/packed_weights.h"
#include "engine/cpu/kernels/kernels.h"

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

// Panels of pairs of depths: element (depth, column) of the operand is at(depth, column).
template <class F>
void pack_pairs(int depth, int columns, Bf16* packed, F at) {
  for (int first = 0; first < columns; first += kPanel)
    for (int k = 0; k < padded_depth(depth); k += 2)
      for (int c = first; c < first + kPanel; ++c)
        for (int d = k; d < k + 2; ++d) *packed++ = d < depth && c < columns ? to_bf16(at(d, c)) : Bf16{0};
}

void pack(const PackedMatrix& matrix, bool forward, const float* weights) {
  const int outputs = matrix.outputs, inputs = matrix.inputs;
  const auto weight = [=](int output, int input) { return weights[static_cast<std::size_t>(output) * inputs + input]; };
  if (matrix.forward_bf16 != nullptr) {
    if (forward)
      pack_pairs(inputs, outputs, matrix.forward_bf16, [=](int input, int output) { return weight(output, input); });
    else
      pack_pairs(outputs, inputs, matrix.backward_bf16, weight);
  } else if (forward) {
    pack_transposed(outputs, inputs, weights, inputs, matrix.forward);
  } else {
    pack_rows(outputs, inputs, weights, matrix.backward);
  }
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

Model::Model(const ModelConfig& config, ThreadPool& pool, Precision precision, ModelHead head) : state_(std::make_unique<State>(config, pool, head)) {
  const Widths width(config);
  Packed& packed = state_->packed;
  packed.offsets = model_offsets(state_->layout);
  if (precision == Precision::bf16) {
    packed.bf16 = bf16_kernels();
    if (packed.bf16 == nullptr)
      throw Error("precision_unsupported", "this processor (or the instruction set chosen with STARPO_ISA) multiplies no bfloat16 numbers: it has neither AVX512-BF16 nor AMX",
                  "set precision to fp32");
  }
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

  const auto floats = [&](int depth, int columns) { return packed.bf16 ? packed_bf16_size(depth, columns) / 2 : packed_size(depth, columns); };
  std::size_t total = 0;
  for (const auto& [matrix, offset] : state_->matrices) total += floats(matrix->inputs, matrix->outputs) + floats(matrix->outputs, matrix->inputs);
  packed.memory.reserve(total);
  float* next = packed.memory.data();
  for (const auto& [matrix, offset] : state_->matrices) {
    float* const forward = next;
    float* const backward = forward + floats(matrix->inputs, matrix->outputs);
    next = backward + floats(matrix->outputs, matrix->inputs);
    if (packed.bf16) {
      matrix->forward_bf16 = reinterpret_cast<Bf16*>(forward);
      matrix->backward_bf16 = reinterpret_cast<Bf16*>(backward);
    } else {
      matrix->forward = forward;
      matrix->backward = backward;
    }
  }
}

Model::~Model() = default;

const ParameterLayout& Model::layout() const { return state_->layout; }
ThreadPool& Model::threads() const { return state_->threads; }
Precision Model::precision() const { return state_->packed.bf16 ? Precision::bf16 : Precision::fp32; }
std::span<const float> Model::weights() const { return state_->weights; }
std::span<float> Model::mutable_weights() { return state_->weights; }
const Model::Packed& Model::packed() const { return state_->packed; }

void Model::weights_changed() {
  const auto& matrices = state_->matrices;
  state_->threads.parallel_for(static_cast<int>(2 * matrices.size()), [&](int i) {
    const auto& [matrix, offset] = matrices[i / 2];
    pack(*matrix, i % 2 == 0, state_->weights.data() + offset);
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
