#pragma once

#include <cmath>

#include "engine/cuda/engine/device_weights.h"
#include "engine/cuda/kernels/attention.h"
#include "engine/cuda/kernels/norm.h"
#include "engine/cuda/kernels/rope.h"
#include "engine/cuda/kernels/swiglu.h"
#include "engine/cuda/lt/matmul.h"

namespace starpo::cuda {

// Returns the distance between the rows of a product's result. Tensor cores need a multiple of 8, but a vocabulary can
// have any size.
inline int row_stride(int columns) { return (columns + 7) / 8 * 8; }

// The matrix products of a network, with row-major matrices. The rows of y and its gradient dy are row_stride(outputs)
// elements apart, others have no padding. `exact`: an element depends only on its own operands, to the bit.
template <class T>
class Products {
 public:
  Products(Stream& stream, Matmul& matmul, bool exact) : stream_(stream), matmul_(matmul), exact_(exact) {}

  // y [rows, outputs] = x [rows, inputs] W^T with W [outputs, inputs].
  template <class Out>
  void forward(int rows, int outputs, int inputs, const T* x, const T* weight, Out* y) const {
    Gemm<T, Out> gemm{rows, outputs, inputs, x, inputs, weight, inputs, y, row_stride(outputs)};
    gemm.exact = exact_;
    matmul_.gemm_nt(stream_, gemm);
  }
  // hidden [rows, columns] = silu(x Wg^T) * (x Wu^T). weight: Wg above Wu.
  void swiglu(int rows, int columns, int inputs, const T* x, const T* weight, T* hidden) const {
    Gemm<T> gemm{rows, columns, inputs, x, inputs, weight, inputs, hidden, columns};
    gemm.exact = exact_;
    matmul_.gemm_swiglu(stream_, gemm);
  }
  // Returns whether forward() and a separate SwiGLU are faster than swiglu(), because cuBLASLt computes the product.
  bool separates_swiglu(int rows, int columns, int inputs) const {
    return !exact_ && matmul_.prefers_library(rows, 2.0 * rows * columns * inputs);
  }
  // The backward pass of forward(): dW [outputs, inputs] += dy^T x and dx [rows, inputs] = dy [rows, outputs] W.
  // The padding of dy must be zero.
  void backward(int rows, int outputs, int inputs, const T* y_gradient, const T* x, float* weight_gradient,
                const T* weight, T* x_gradient) const {
    const int stride = row_stride(outputs);
    Gemm<T, float> gemm{outputs, inputs, rows, y_gradient, stride, x, inputs, weight_gradient, inputs};
    gemm.accumulate = true;
    matmul_.gemm_tn(stream_, gemm);
    matmul_.gemm_nn(stream_, Gemm<T>{rows, inputs, outputs, y_gradient, stride, weight, inputs, x_gradient, inputs});
  }

 private:
  Stream& stream_;
  Matmul& matmul_;
  bool exact_;
};

// Activations of a block for `rows` tokens. Training keeps them per layer for the backward pass. Otherwise layers may
// share buffers.
template <class T>
struct LayerBuffers {
  float* x;            // [rows, hidden] the block's input
  float* input_rms;    // [rows] reciprocal; null in a generator
  T* normed;           // [rows, hidden]
  T* qkv;              // [rows, Widths::qkv], rotated
  T* attended;         // [rows, queries]
  float* log_sum_exp;  // [heads, rows]
  float* middle;       // [rows, hidden] between attention and MLP; may be x
  float* middle_rms;   // [rows]
  T* middle_normed;    // [rows, hidden]
  T* gate_up;          // [rows, 2 * intermediate]; null: SwiGLU is fused into the product
  T* hidden;           // [rows, intermediate]
};

inline QkvShape qkv_shape(const Widths& width) { return {width.heads, width.kv_heads, width.head_dim}; }
inline AttentionShape attention_shape(const Widths& width) {
  return {width.heads, width.kv_heads, width.head_dim, 1.0f / std::sqrt(static_cast<float>(width.head_dim))};
}

// Runs a Qwen2 block, for prefill, decode and training. Its input is x = previous + previous_delta, or previous if
// previous_delta is null. The output of the MLP is in delta [rows, hidden], and the next block adds it to middle.
// attend(bias) adds the bias to qkv, rotates queries and keys, and writes attended.
template <class T, class Attend>
void run_layer(Stream& stream, const DeviceWeights<T>& weights, const Products<T>& products, int layer, int rows,
               const float* previous, const T* previous_delta, const LayerBuffers<T>& b, T* delta,
               const Attend& attend) {
  const Widths& width = weights.width();
  const LayerOffsets& at = weights.offsets().layers[layer];
  const float epsilon = weights.layout().config().rms_norm_eps;
  residual_norm(stream, rows, width.hidden, previous, previous_delta, b.x, weights.master(at.input_norm), epsilon,
                b.normed, b.input_rms);
  products.forward(rows, width.qkv, width.hidden, b.normed, weights.matrix(at.qkv), b.qkv);
  attend(weights.master(at.qkv_bias));
  products.forward(rows, width.hidden, width.queries, b.attended, weights.matrix(at.output), delta);
  residual_norm(stream, rows, width.hidden, b.x, delta, b.middle, weights.master(at.mlp_norm), epsilon, b.middle_normed,
                b.middle_rms);
  if (b.gate_up != nullptr) {
    products.forward(rows, 2 * width.intermediate, width.hidden, b.middle_normed, weights.matrix(at.gate_up),
                     b.gate_up);
    swiglu(stream, rows, width.intermediate, b.gate_up, b.hidden);
  } else {
    products.swiglu(rows, width.intermediate, width.hidden, b.middle_normed, weights.matrix(at.gate_up), b.hidden);
  }
  products.forward(rows, width.hidden, width.intermediate, b.hidden, weights.matrix(at.down), delta);
}

}  // namespace starpo::cuda
