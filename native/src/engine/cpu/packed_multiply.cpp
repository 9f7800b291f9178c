#include "engine/cpu/packed_weights.h"
#include "engine/cpu/kernels/kernels.h"

namespace starpo {

namespace {

// The calling thread's rounded rows; thread_memory() is the callers'.
Bf16* rounded_rows(const Bf16Kernels& k, int rows, int depth, const float* x) {
  thread_local AlignedBuffer memory;
  memory.reserve(bf16_rows_size(rows, depth) / 2);
  Bf16* const rounded = reinterpret_cast<Bf16*>(memory.data());
  k.round_rows(rows, depth, x, depth, rounded);
  return rounded;
}

}  // namespace

void multiply_forward(const Model& model, const PackedMatrix& matrix, int rows, const float* x, const float* start, std::ptrdiff_t start_stride,
                      float* y) {
  const int depth = matrix.inputs, columns = matrix.outputs;
  if (const Bf16Kernels* const k = model.packed().bf16)
    k->multiply(rows, columns, depth, rounded_rows(*k, rows, depth, x), matrix.forward_bf16, start, start_stride, y, columns);
  else
    kernels().multiply(rows, columns, depth, x, depth, matrix.forward, start, start_stride, y, columns);
}

void multiply_backward(const Model& model, const PackedMatrix& matrix, int rows, const float* y_gradient, float* x_gradient) {
  const int depth = matrix.outputs, columns = matrix.inputs;
  if (const Bf16Kernels* const k = model.packed().bf16)
    k->multiply(rows, columns, depth, rounded_rows(*k, rows, depth, y_gradient), matrix.backward_bf16, nullptr, 0, x_gradient, columns);
  else
    kernels().multiply(rows, columns, depth, y_gradient, depth, matrix.backward, nullptr, 0, x_gradient, columns);
}

}  // namespace starpo
