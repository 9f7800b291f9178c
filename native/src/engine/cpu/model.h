#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/thread_pool.h"
#include "engine/cpu/kernels/bf16_kernels.h"
#include "engine/network.h"
#include "model/parameters.h"
#include "model/precision.h"

namespace starpo {

// A weight matrix [outputs, inputs] in panels of 32 columns: `forward` of its transpose (x W^T), `backward` of itself
// (dy W). In float or in bfloat16, by the model's precision; the others are null.
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

// A Qwen2 policy's or critic's weights together with whatever packed copies the kernels want of them.
// CpuDecoder and CpuTrainingPass read it; only who calls write() or weights_changed() writes to it. One copy of the
// weights serves sampling and training. Of a model that is only read there are no weights but those that are read as
// they are (embeddings, norms, biases), and packs for the forward pass alone.
class CpuModel {
 public:
  CpuModel(const ModelConfig&, ThreadPool&, Precision = Precision::fp32, ModelHead = ModelHead::language,
           NetworkUse = NetworkUse::trained);  // Error precision_unsupported
  ~CpuModel();

  const ParameterLayout& layout() const;
  ThreadPool& threads() const;
  Precision precision() const;
  bool learns() const;

  // Weights [first, first + the span's size) of the layout, with their packed copies.
  void write(std::size_t first, std::span<const float>);

  std::span<const float> weights() const;  // where packed().offsets say; all of the layout where the model learns
  // The optimiser writes here, then says which weights have changed so that their packed copies are made anew.
  std::span<float> mutable_weights();
  void weights_changed();
  void weights_changed(std::size_t first, std::size_t count);

  // Of weights and packs.
  static std::int64_t bytes(const ParameterLayout&, Precision, NetworkUse);

  struct Packed {
    ModelOffsets offsets;
    std::vector<PackedLayer> layers;
    PackedMatrix head;
    const Bf16Kernels* bf16 = nullptr;  // null in fp32
    AlignedBuffer memory;
  };
  const Packed& packed() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Log-probability of each row's target and the entropy of the row's distribution (nats), from logits / temperature over
// the whole vocabulary. logits [rows, vocab]; the same code serves sampler and update, so both see the same bits.
void logprob_and_entropy(std::span<const float> logits, int vocab, std::span<const std::int32_t> targets,
                         float temperature, std::span<float> logprobs, std::span<float> entropies, ThreadPool&);

// Floats that pieces of these many take together, each on a cache line.
inline std::size_t carved_size(std::span<const std::size_t> sizes) {
  constexpr std::size_t line = 16;
  std::size_t sum = 0;
  for (const std::size_t size : sizes) sum += (size + line - 1) / line * line;
  return sum;
}

// Where they lie, one behind the other.
template <std::size_t N>
std::array<float*, N> pieces_of(float* memory, const std::array<std::size_t, N>& sizes) {
  std::array<float*, N> pieces;
  for (std::size_t i = 0; i < N; ++i) pieces[i] = memory + carved_size(std::span(sizes).first(i));
  return pieces;
}

// Pieces of one buffer. The content doesn't survive the next call for the same buffer.
template <std::size_t N>
std::array<float*, N> carve(AlignedBuffer& memory, const std::size_t (&sizes)[N]) {
  memory.reserve(carved_size(sizes));
  return pieces_of(memory.data(), std::to_array(sizes));
}

// Scratch of the calling thread, kept until the thread ends.
AlignedBuffer& thread_memory();

// Panels of the transpose of matrix [rows, columns] (rows `stride` apart): packed columns are the matrix's rows.
void pack_transposed(int rows, int columns, const float* matrix, std::ptrdiff_t stride, float* packed);

}  // namespace starpo
