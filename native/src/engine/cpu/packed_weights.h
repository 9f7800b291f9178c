#pragma once

#include <array>
#include <vector>

#include "base/aligned_buffer.h"
#include "engine/cpu/layer_offsets.h"
#include "engine/cpu/model.h"
#include "engine/cpu/kernels/bf16_kernels.h"

namespace starpo {

// A weight matrix [outputs, inputs] in panels of 32 columns: `forward` of its transpose (x W^T), `backward` of itself (dy W). In float or in bfloat16,
// by the model's precision; the others are null.
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

struct Model::Packed {
  ModelOffsets offsets;
  std::vector<PackedLayer> layers;
  PackedMatrix head;
  const Bf16Kernels* bf16 = nullptr;  // null in fp32
  AlignedBuffer memory;
};

// y [rows, outputs] = start + x W^T and dx [rows, inputs] = dy W, in the model's precision, on the calling thread. `start` as in Kernels::multiply.
void multiply_forward(const Model&, const PackedMatrix&, int rows, const float* x, const float* start, std::ptrdiff_t start_stride, float* y);
void multiply_backward(const Model&, const PackedMatrix&, int rows, const float* y_gradient, float* x_gradient);

// Pieces of one buffer, of these many floats, each on a cache line. The content doesn't survive the next call for the same buffer.
template <std::size_t N>
std::array<float*, N> carve(AlignedBuffer& memory, const std::size_t (&sizes)[N]) {
  constexpr std::size_t line = 16;
  std::array<std::size_t, N + 1> starts{};
  for (std::size_t i = 0; i < N; ++i) starts[i + 1] = starts[i] + (sizes[i] + line - 1) / line * line;
  memory.reserve(starts[N]);
  std::array<float*, N> pieces;
  for (std::size_t i = 0; i < N; ++i) pieces[i] = memory.data() + starts[i];
  return pieces;
}

// Scratch of the calling thread, kept until the thread ends.
AlignedBuffer& thread_memory();

// Panels of the transpose of matrix [rows, columns] (rows `stride` apart): packed columns are the matrix's rows.
void pack_transposed(int rows, int columns, const float* matrix, std::ptrdiff_t stride, float* packed);

}  // namespace starpo
