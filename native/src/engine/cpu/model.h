#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/thread_pool.h"
#include "engine/cpu/kernels/bf16_kernels.h"
#include "engine/network.h"
#include "model/parameters.h"
#include "model/precision.h"

namespace starpo {

// Throws precision_unsupported if this CPU has no kernels for the precision.
void check_cpu_precision(Precision);

// A weight matrix [outputs, inputs] in panels of 32 columns: `forward` packs its transpose (for x W^T), `backward` the
// matrix (for dy W). Either the fp32 or the bf16 pointers are set, depending on the model's precision.
struct PackedMatrix {
  int outputs = 0, inputs = 0;
  float* forward = nullptr;
  float* backward = nullptr;
  Bf16* forward_bf16 = nullptr;
  Bf16* backward_bf16 = nullptr;
};

struct PackedLayer {
  PackedMatrix qkv, output, gate_up, down;
};

// The unpacked weights of [first, first + size) in the layout are at `position` of CpuModel::weights().
struct UnpackedRange {
  std::size_t first, size, position;
};

// The weights of a Qwen2 policy or critic, with the packed copies that kernels read. CpuDecoder and CpuTrainingPass
// share it for sampling and training. Only write() and weights_changed() modify it. With NetworkUse::read, it has only
// the weights that are read unpacked (embeddings, norms, biases) and the packs for the forward pass.
class CpuModel {
 public:
  // Errors: precision_unsupported.
  CpuModel(const ModelConfig&, ThreadPool&, Precision = Precision::fp32, ModelHead = ModelHead::language,
           NetworkUse = NetworkUse::trained);
  CpuModel(const CpuModel&) = delete;

  const ParameterLayout& layout() const { return layout_; }
  ThreadPool& threads() const { return threads_; }
  Precision precision() const { return packed_.bf16 ? Precision::bf16 : Precision::fp32; }
  bool is_trained() const { return is_trained_; }

  // Writes the weights [first, first + span size) of the layout and their packed copies.
  void write(std::size_t first, std::span<const float>);

  // Returns the unpacked weights, which packed().offsets locates. They are the whole layout if the model is trained.
  std::span<const float> weights() const { return weights_; }
  // The optimizer writes here, then calls weights_changed() to update the packed copies.
  std::span<float> mutable_weights() { return weights_; }
  void weights_changed();
  void weights_changed(std::size_t first, std::size_t count);

  // Returns the bytes of weights and packs.
  static std::int64_t bytes(const ParameterLayout&, Precision, NetworkUse);

  struct Packed {
    ModelOffsets offsets;
    std::vector<PackedLayer> layers;
    PackedMatrix head;
    const Bf16Kernels* bf16 = nullptr;  // null in fp32
    AlignedBuffer memory;
  };
  const Packed& packed() const { return packed_; }

 private:
  void pack_range(std::size_t first, std::span<const float> values);

  ParameterLayout layout_;
  ThreadPool& threads_;
  bool is_trained_;
  std::vector<UnpackedRange> unpacked_;
  std::vector<float> weights_;
  Packed packed_;
  std::vector<std::pair<PackedMatrix*, std::size_t>> matrices_;  // with their offsets in the layout
};

// Computes the log-probability of each row's target and the entropy of the row's distribution (nats), from logits /
// temperature. logits [rows, vocab]. Sampler and update share this code, so their results are bit-identical.
void logprob_and_entropy(std::span<const float> logits, int vocab, std::span<const std::int32_t> targets,
                         float temperature, std::span<float> logprobs, std::span<float> entropies, ThreadPool&);

// Returns the total size of buffers with these sizes, each aligned to a cache line. Sizes are in floats.
inline std::size_t buffers_size(std::span<const std::size_t> sizes) {
  constexpr std::size_t line = 16;
  std::size_t sum = 0;
  for (const std::size_t size : sizes) sum += (size + line - 1) / line * line;
  return sum;
}

// Returns the addresses of such buffers in memory.
template <std::size_t N>
std::array<float*, N> split_memory(float* memory, const std::array<std::size_t, N>& sizes) {
  std::array<float*, N> addresses;
  for (std::size_t i = 0; i < N; ++i) addresses[i] = memory + buffers_size(std::span(sizes).first(i));
  return addresses;
}

// Splits memory into buffers of these sizes, and grows it if necessary. The next call for the same memory invalidates
// them.
template <std::size_t N>
std::array<float*, N> split_buffer(AlignedBuffer& memory, const std::size_t (&sizes)[N]) {
  memory.reserve(buffers_size(sizes));
  return split_memory(memory.data(), std::to_array(sizes));
}

// Returns the scratch memory of the calling thread.
AlignedBuffer& thread_memory();

// Packs the transpose of matrix [rows, columns] (rows `stride` apart) in panels: columns of the pack are rows of the
// matrix.
void pack_transposed(int rows, int columns, const float* matrix, std::ptrdiff_t stride, float* packed);

}  // namespace starpo
