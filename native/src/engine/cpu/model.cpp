#include "engine/cpu/model.h"

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
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
      for (int c = 0; c < kPanel; ++c)
        packed[c] = first + c < columns ? matrix[static_cast<std::size_t>(r) * columns + first + c] : 0.0f;
}

// Packs an operand in panels whose rows are pairs of depths. at(depth, column) returns an element.
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

// Return the index of element (depth, column) in an operand's panels of 32 columns. In bf16, rows are pairs of depths.
std::size_t panel_index(int depths, int depth, int column) {
  return (static_cast<std::size_t>(column / kPanel) * depths + depth) * kPanel + column % kPanel;
}
std::size_t pair_panel_index(int depths, int depth, int column) {
  return (static_cast<std::size_t>(column / kPanel) * padded_depth(depths) + depth / 2 * 2) * kPanel +
         column % kPanel * 2 + depth % 2;
}

// Packs the weights [input, input + span size) of row `output`.
void pack_part(const PackedMatrix& matrix, int output, int input, std::span<const float> weights) {
  const int outputs = matrix.outputs, inputs = matrix.inputs;
  for (const float weight : weights) {
    if (matrix.forward_bf16 != nullptr) {
      matrix.forward_bf16[pair_panel_index(inputs, input, output)] = to_bf16(weight);
      if (matrix.backward_bf16 != nullptr)
        matrix.backward_bf16[pair_panel_index(outputs, output, input)] = to_bf16(weight);
    } else {
      matrix.forward[panel_index(inputs, input, output)] = weight;
      if (matrix.backward != nullptr) matrix.backward[panel_index(outputs, output, input)] = weight;
    }
    ++input;
  }
}

// Returns all weights if the model is trained, otherwise those that matrix products don't read.
std::vector<UnpackedRange> unpacked_ranges(const ParameterLayout& layout, NetworkUse use) {
  if (use == NetworkUse::trained) return {{0, layout.size(), 0}};
  std::vector<UnpackedRange> ranges;
  std::size_t position = 0;
  for (const TensorSlot& tensor : layout.tensors())
    if (tensor.shape.size() == 1 || tensor.name == "model.embed_tokens.weight") {
      ranges.push_back({tensor.offset, tensor.size, position});
      position += tensor.size;
    }
  return ranges;
}

std::size_t size_of(const std::vector<UnpackedRange>& ranges) { return ranges.back().position + ranges.back().size; }

// Returns the offsets of the unpacked weights in memory. The offsets of other matrices are not used.
ModelOffsets offsets_in(const std::vector<UnpackedRange>& ranges, ModelOffsets offsets) {
  const auto move = [&](std::size_t& offset) {
    for (const UnpackedRange& each : ranges)
      if (offset >= each.first && offset < each.first + each.size) {
        offset = each.position + (offset - each.first);
        return;
      }
  };
  for (std::size_t* each : {&offsets.embedding, &offsets.final_norm, &offsets.head_bias}) move(*each);
  for (LayerOffsets& layer : offsets.layers)
    for (std::size_t* each : {&layer.input_norm, &layer.qkv_bias, &layer.mlp_norm}) move(*each);
  return offsets;
}

// Calls body for each matrix that products use, with its sizes and its offset in the layout.
template <class F>
void for_each_matrix(const ParameterLayout& layout, F body) {
  const Widths width(layout.config());
  const ModelOffsets offsets = model_offsets(layout);
  for (std::size_t i = 0; i < offsets.layers.size(); ++i) {
    const LayerOffsets& at = offsets.layers[i];
    body([i](CpuModel::Packed& packed) -> PackedMatrix& { return packed.layers[i].qkv; }, width.qkv, width.hidden,
         at.qkv);
    body([i](CpuModel::Packed& packed) -> PackedMatrix& { return packed.layers[i].output; }, width.hidden,
         width.queries, at.output);
    body([i](CpuModel::Packed& packed) -> PackedMatrix& { return packed.layers[i].gate_up; }, 2 * width.intermediate,
         width.hidden, at.gate_up);
    body([i](CpuModel::Packed& packed) -> PackedMatrix& { return packed.layers[i].down; }, width.hidden,
         width.intermediate, at.down);
  }
  body([](CpuModel::Packed& packed) -> PackedMatrix& { return packed.head; },
       layout.head() == ModelHead::value ? 1 : width.vocab, width.hidden, offsets.head);
}

// Returns the floats of a pack of a matrix.
std::size_t pack_size(Precision precision, int depth, int columns) {
  return precision == Precision::bf16 ? packed_bf16_size(depth, columns) / 2 : packed_size(depth, columns);
}

// Returns the floats of all packs of a matrix: forward, and backward if the model is trained.
std::size_t packs_size(Precision precision, NetworkUse use, int outputs, int inputs) {
  return pack_size(precision, inputs, outputs) +
         (use == NetworkUse::trained ? pack_size(precision, outputs, inputs) : 0);
}

std::size_t packs_size(const ParameterLayout& layout, Precision precision, NetworkUse use) {
  std::size_t total = 0;
  for_each_matrix(layout, [&](const auto&, int outputs, int inputs, std::size_t) {
    total += packs_size(precision, use, outputs, inputs);
  });
  return total;
}

}  // namespace

void check_cpu_precision(Precision precision) {
  if (precision == Precision::bf16 && bf16_kernels() == nullptr)
    throw Error("precision_unsupported",
                "bf16 needs AVX512-BF16 or AMX, which this CPU (or the instruction set in STARPO_ISA) doesn't have",
                "set precision to fp32, or use a machine that supports bf16");
}

CpuModel::CpuModel(const ModelConfig& config, ThreadPool& pool, Precision precision, ModelHead head, NetworkUse use)
    : layout_(config, head),
      threads_(pool),
      is_trained_(use == NetworkUse::trained),
      unpacked_(unpacked_ranges(layout_, use)),
      weights_(size_of(unpacked_)) {
  packed_.offsets = offsets_in(unpacked_, model_offsets(layout_));
  check_cpu_precision(precision);
  if (precision == Precision::bf16) packed_.bf16 = bf16_kernels();
  packed_.layers.resize(packed_.offsets.layers.size());
  packed_.memory.reserve(packs_size(layout_, precision, use));
  float* next = packed_.memory.data();
  for_each_matrix(layout_, [&](const auto& select, int outputs, int inputs, std::size_t offset) {
    PackedMatrix& matrix = select(packed_);
    matrix.outputs = outputs;
    matrix.inputs = inputs;
    matrices_.emplace_back(&matrix, offset);
    float* const forward = next;
    float* const backward = is_trained_ ? forward + pack_size(precision, inputs, outputs) : nullptr;
    next += packs_size(precision, use, outputs, inputs);
    if (packed_.bf16) {
      matrix.forward_bf16 = reinterpret_cast<Bf16*>(forward);
      matrix.backward_bf16 = reinterpret_cast<Bf16*>(backward);
    } else {
      matrix.forward = forward;
      matrix.backward = backward;
    }
  });
}

std::int64_t CpuModel::bytes(const ParameterLayout& layout, Precision precision, NetworkUse use) {
  return static_cast<std::int64_t>((size_of(unpacked_ranges(layout, use)) + packs_size(layout, precision, use)) *
                                   sizeof(float));
}

void CpuModel::write(std::size_t first, std::span<const float> values) {
  if (first > layout_.size() || values.size() > layout_.size() - first)
    throw std::out_of_range("the range exceeds the layout");
  for (const UnpackedRange& range : unpacked_) {
    const std::size_t begin = std::max(first, range.first),
                      end = std::min(first + values.size(), range.first + range.size);
    if (begin < end)
      std::ranges::copy(values.subspan(begin - first, end - begin),
                        weights_.begin() + static_cast<std::ptrdiff_t>(range.position + (begin - range.first)));
  }
  pack_range(first, values);
}

void CpuModel::pack_range(std::size_t first, std::span<const float> values) {
  for (const auto& [matrix, offset] : matrices_) {
    const std::size_t inputs = matrix->inputs, size = static_cast<std::size_t>(matrix->outputs) * inputs;
    const std::size_t begin = std::max(first, offset), end = std::min(first + values.size(), offset + size);
    if (begin >= end) continue;
    const std::size_t first_row = (begin - offset) / inputs, rows = (end - offset + inputs - 1) / inputs - first_row;
    constexpr std::size_t block = kPanel;
    threads_.parallel_for(static_cast<int>((rows + block - 1) / block), [&](int i) {
      for (std::size_t row = first_row + i * block; row < first_row + std::min(rows, (i + 1) * block); ++row) {
        const std::size_t from = std::max(begin, offset + row * inputs),
                          to = std::min(end, offset + (row + 1) * inputs);
        pack_part(*matrix, static_cast<int>(row), static_cast<int>(from - offset - row * inputs),
                  values.subspan(from - first, to - from));
      }
    });
  }
}

void CpuModel::weights_changed(std::size_t first, std::size_t count) {
  if (count == weights_.size()) return weights_changed();
  pack_range(first, std::span(weights_).subspan(first, count));
}

void CpuModel::weights_changed() {
  threads_.parallel_for(static_cast<int>(2 * matrices_.size()), [&](int i) {
    const auto& [matrix, offset] = matrices_[i / 2];
    pack(*matrix, i % 2 == 0, weights_.data() + offset);
  });
}

void logprob_and_entropy(std::span<const float> logits, int vocab, std::span<const std::int32_t> targets,
                         float temperature, std::span<float> logprobs, std::span<float> entropies,
                         ThreadPool& threads) {
  const int rows = static_cast<int>(targets.size());
  if (logits.size() != targets.size() * static_cast<std::size_t>(vocab) || logprobs.size() != targets.size() ||
      entropies.size() != targets.size())
    throw std::invalid_argument("logprob_and_entropy: sizes differ");
  constexpr int block = 16;
  threads.parallel_for((rows + block - 1) / block, [&](int i) {
    const int first = i * block;
    kernels().logprob_entropy(std::min(block, rows - first), vocab,
                              logits.data() + static_cast<std::size_t>(first) * vocab, 1.0f / temperature,
                              targets.data() + first, logprobs.data() + first, entropies.data() + first, nullptr,
                              nullptr);
  });
}

}  // namespace starpo
