#include "engine/cuda/kernels/swiglu.h"

#include "engine/cuda/kernels/eight.h"
#include "engine/cuda/kernels/swiglu_of.h"

namespace starpo::cuda {
namespace {

constexpr int kSwigluThreads = 256;

// One thread per group of eight elements.
template <class T>
__global__ void __launch_bounds__(kSwigluThreads) swiglu_kernel(int items, int columns, const T* gate_up, T* hidden) {
  const int item = blockIdx.x * kSwigluThreads + threadIdx.x;
  if (item >= items) return;
  const int row_items = columns / 8, row = item / row_items, column = item % row_items * 8;
  const T* const gates = gate_up + static_cast<std::size_t>(row) * 2 * columns + column;
  float gate[8], up[8];
  load_eight(gates, gate);
  load_eight(gates + columns, up);
#pragma unroll
  for (int i = 0; i < 8; ++i) gate[i] = swiglu_of(gate[i], up[i]);
  store_eight(hidden + static_cast<std::size_t>(row) * columns + column, gate);
}

// With s = sigmoid(gate): d gate = d hidden * up * s (1 + gate (1 - s)) and d up = d hidden * gate s. One thread per
// group of eight elements.
template <class T>
__global__ void __launch_bounds__(kSwigluThreads)
    swiglu_backward_kernel(int items, int columns, const T* gate_up, const T* hidden_gradient, T* gate_up_gradient) {
  const int item = blockIdx.x * kSwigluThreads + threadIdx.x;
  if (item >= items) return;
  const int row_items = columns / 8, row = item / row_items, column = item % row_items * 8;
  const std::size_t wide = static_cast<std::size_t>(row) * 2 * columns + column,
                    narrow = static_cast<std::size_t>(row) * columns + column;
  float gate[8], up[8], d[8], result[8];
  load_eight(gate_up + wide, gate);
  load_eight(gate_up + wide + columns, up);
  load_eight(hidden_gradient + narrow, d);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float s = sigmoid_of(gate[i]);
    result[i] = d[i] * up[i] * (s * fmaf(gate[i], 1.0f - s, 1.0f));
    d[i] *= gate[i] * s;
  }
  store_eight(gate_up_gradient + wide, result);
  store_eight(gate_up_gradient + wide + columns, d);
}

int items_of(int rows, int columns) { return rows * (columns / 8); }
int blocks_of(int items) { return (items + kSwigluThreads - 1) / kSwigluThreads; }

}  // namespace

template <class T>
void swiglu(Stream& stream, int rows, int columns, const T* gate_up, T* hidden) {
  const int items = items_of(rows, columns);
  STARPO_LAUNCH(stream, blocks_of(items), kSwigluThreads, 0, (swiglu_kernel<T>), items, columns, gate_up, hidden);
}

template <class T>
void swiglu_backward(Stream& stream, int rows, int columns, const T* gate_up, const T* hidden_gradient,
                     T* gate_up_gradient) {
  const int items = items_of(rows, columns);
  STARPO_LAUNCH(stream, blocks_of(items), kSwigluThreads, 0, (swiglu_backward_kernel<T>), items, columns, gate_up,
                hidden_gradient, gate_up_gradient);
}

template void swiglu(Stream&, int, int, const float*, float*);
template void swiglu(Stream&, int, int, const Bf16*, Bf16*);
template void swiglu_backward(Stream&, int, int, const float*, const float*, float*);
template void swiglu_backward(Stream&, int, int, const Bf16*, const Bf16*, Bf16*);

}  // namespace starpo::cuda
