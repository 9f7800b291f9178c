#pragma once

#include <cstdint>

#include "engine/cpu/model.h"
#include "engine/rotary_table.h"

namespace starpo {

// Compute y [rows, outputs] = start + x W^T and dx [rows, inputs] = dy W in the model's precision, on the calling
// thread. Kernels::multiply documents `start`.
void multiply_forward(const CpuModel&, const PackedMatrix&, int rows, const float* x, const float* start,
                      std::ptrdiff_t start_stride, float* y);
void multiply_backward(const CpuModel&, const PackedMatrix&, int rows, const float* y_gradient, float* x_gradient);

// The forward pass of a Qwen2 block outside attention, for any number of rows (tokens), on the calling thread. Prefill,
// decode and training share these functions, so their results are bit-identical.

// qkv [rows, Widths::qkv] = rotated queries, rotated keys and values of norm(x). In bf16, keys and values are rounded,
// as in the cache. Scratch: normed [rows, hidden]. reciprocal_rms [rows] may be null.
void project_qkv(const CpuModel&, int layer, int rows, const float* x, const std::int32_t* positions,
                 const RotaryTable&, float* normed, float* qkv, float* reciprocal_rms);

// middle [rows, hidden] = x + attended W_o^T; next = middle + MLP(norm(middle)). next may be x, and middle may be next.
// gate_up: [rows, 2 * intermediate]. Scratch: normed [rows, hidden], hidden [rows, intermediate].
void output_and_mlp(const CpuModel&, int layer, int rows, const float* x, const float* attended, float* middle,
                    float* normed, float* gate_up, float* hidden, float* next, float* reciprocal_rms);

}  // namespace starpo
