#pragma once

#include <cmath>

#include "engine/cuda/engine/device_weights.h"
#include "engine/cuda/engine/products.h"
#include "engine/cuda/kernels/attention.h"
#include "engine/cuda/kernels/norm.h"
#include "engine/cuda/kernels/rope.h"
#include "engine/cuda/kernels/swiglu.h"

namespace starpo::cuda {

// What one block of the network computes for `rows` tokens; training keeps it for the backward pass, where buffers may be one for all layers.
template <class T>
struct LayerBuffers {
  float* x;              // [rows, hidden] the block's input
  float* input_rms;      // [rows] reciprocal; null where no backward pass follows
  T* normed;             // [rows, hidden]
  T* qkv;                // [rows, Widths::qkv], rotated
  T* attended;           // [rows, queries]
  float* log_sum_exp;    // [heads, rows]
  float* middle;         // [rows, hidden] between attention and MLP; may be x
  float* middle_rms;     // [rows]
  T* middle_normed;      // [rows, hidden]
  T* gate_up;            // [rows, 2 * intermediate]; null: the product itself ends with SwiGLU
  T* hidden;             // [rows, intermediate]
};

inline QkvShape qkv_shape(const Widths& width) { return {width.heads, width.kv_heads, width.head_dim}; }
inline AttentionShape attention_shape(const Widths& width) { return {width.heads, width.kv_heads, width.head_dim, 1.0f / std::sqrt(static_cast<float>(width.head_dim))}; }

// One block of Qwen2, the same for prefill, decode and training. x = previous + previous_delta (null: previous is x already); what it adds to
// `middle` is left in delta [rows, hidden]. attend(bias): adds it to qkv, rotates, and writes attended.
template <class T, class Attend>
void run_layer(Stream& stream, const DeviceWeights<T>& weights, const Products<T>& products, int layer, int rows, const float* previous, const T* previous_delta,
               const LayerBuffers<T>& b, T* delta, const Attend& attend) {
  const Widths& width = weights.width();
  const LayerOffsets& at = weights.offsets().layers[layer];
  const float epsilon = weights.layout().config().rms_norm_eps;
  residual_norm(stream, rows, width.hidden, previous, previous_delta, b.x, weights.master(at.input_norm), epsilon, b.normed, b.input_rms);
  products.forward(rows, width.qkv, width.hidden, b.normed, weights.matrix(at.qkv), b.qkv);
  attend(weights.master(at.qkv_bias));
  products.forward(rows, width.hidden, width.queries, b.attended, weights.matrix(at.output), delta);
  residual_norm(stream, rows, width.hidden, b.x, delta, b.middle, weights.master(at.mlp_norm), epsilon, b.middle_normed, b.middle_rms);
  if (b.gate_up != nullptr) {
    products.forward(rows, 2 * width.intermediate, width.hidden, b.middle_normed, weights.matrix(at.gate_up), b.gate_up);
    swiglu(stream, rows, width.intermediate, b.gate_up, b.hidden);
  } else {
    products.swiglu(rows, width.intermediate, width.hidden, b.middle_normed, weights.matrix(at.gate_up), b.hidden);
  }
  products.forward(rows, width.hidden, width.intermediate, b.hidden, weights.matrix(at.down), delta);
}

}  // namespace starpo::cuda
