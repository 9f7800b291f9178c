#pragma once

#include <cstddef>

#include "engine/cuda/kernels/attention.h"
#include "engine/cuda/portable/cuda.h"

namespace starpo::cuda {

// Arguments of the backward kernels. With weights P = softmax(scale * Q K^T) and the output's gradient G
// (FlashAttention-2, section 2.3): dV = P^T G, dP = G V^T, dS = P * (dP - delta) with delta = sum over columns of G *
// output, dQ = scale * dS K, dK = scale * dS^T Q. P is recomputed as exp(scale * Q K^T - log_sum_exp).
template <class T, int HeadDim>
struct AttentionGradient {
  AttentionShape shape;
  PackedSequences sequences;
  const T* qkv;
  const T* attended_gradient;
  const float* log_sum_exp;
  const float* delta;
  T* qkv_gradient;

  __device__ __forceinline__ std::ptrdiff_t query(int head, int token) const {
    return static_cast<std::ptrdiff_t>(token) * shape.qkv_width() + head * HeadDim;
  }
  __device__ __forceinline__ std::ptrdiff_t key(int kv_head, int token) const {
    return query(shape.heads + kv_head, token);
  }
  __device__ __forceinline__ std::ptrdiff_t value(int kv_head, int token) const {
    return query(shape.heads + shape.kv_heads + kv_head, token);
  }
  __device__ __forceinline__ const T* output_gradient(int head, int token) const {
    return attended_gradient + (static_cast<std::ptrdiff_t>(token) * shape.heads + head) * HeadDim;
  }
  __device__ __forceinline__ std::ptrdiff_t qkv_stride() const { return shape.qkv_width(); }
  __device__ __forceinline__ std::ptrdiff_t output_stride() const { return shape.heads * HeadDim; }
  __device__ __forceinline__ std::ptrdiff_t row(int head, int token) const {
    return static_cast<std::ptrdiff_t>(head) * sequences.tokens + token;
  }
};

}  // namespace starpo::cuda
