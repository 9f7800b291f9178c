#pragma once

#include "engine/cuda/runtime/stream.h"

// SwiGLU (Shazeer, arXiv 2002.05202): hidden = silu(gate) * up. T: Bf16 or float. A row of gate_up [rows, 2 * columns]
// is [gate | up]. hidden: [rows, columns]. columns: a multiple of 8. Pointers are device memory, aligned to 16 bytes.
namespace starpo::cuda {

template <class T>
void swiglu(Stream&, int rows, int columns, const T* gate_up, T* hidden);

// Writes gate_up_gradient, which may be gate_up.
template <class T>
void swiglu_backward(Stream&, int rows, int columns, const T* gate_up, const T* hidden_gradient, T* gate_up_gradient);

}  // namespace starpo::cuda
