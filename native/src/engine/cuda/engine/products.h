#pragma once

#include "engine/cuda/lt/matmul.h"

namespace starpo::cuda {

// The matrix products of one network, all row-major and without padding. `exact`: an element's bits depend on its own operands alone.
template <class T>
class Products {
 public:
  Products(Stream& stream, Matmul& matmul, bool exact) : stream_(stream), matmul_(matmul), exact_(exact) {}

  // y [rows, outputs] = x [rows, inputs] W^T; W: [outputs, inputs].
  template <class Out>
  void forward(int rows, int outputs, int inputs, const T* x, const T* weight, Out* y) const {
    matmul_.gemm_nt(stream_, Gemm<T, Out>{.m = rows, .n = outputs, .k = inputs, .a = x, .lda = inputs, .b = weight, .ldb = inputs, .c = y, .ldc = outputs, .exact = exact_});
  }
  // hidden [rows, columns] = silu(x Wg^T) * (x Wu^T); weight: Wg over Wu.
  void swiglu(int rows, int columns, int inputs, const T* x, const T* weight, T* hidden) const {
    matmul_.gemm_swiglu(stream_, Gemm<T>{.m = rows, .n = columns, .k = inputs, .a = x, .lda = inputs, .b = weight, .ldb = inputs, .c = hidden, .ldc = columns, .exact = exact_});
  }
  // Backward of forward(): dW [outputs, inputs] += dy^T x, and dx [rows, inputs] = dy [rows, outputs] W.
  void backward(int rows, int outputs, int inputs, const T* y_gradient, const T* x, float* weight_gradient, const T* weight, T* x_gradient) const {
    matmul_.gemm_tn(stream_, Gemm<T, float>{.m = outputs, .n = inputs, .k = rows, .a = y_gradient, .lda = outputs, .b = x, .ldb = inputs, .c = weight_gradient, .ldc = inputs, .accumulate = true});
    matmul_.gemm_nn(stream_, Gemm<T, T>{.m = rows, .n = inputs, .k = outputs, .a = y_gradient, .lda = outputs, .b = weight, .ldb = inputs, .c = x_gradient, .ldc = inputs});
  }

 private:
  Stream& stream_;
  Matmul& matmul_;
  bool exact_;
};

}  // namespace starpo::cuda
