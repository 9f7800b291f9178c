#pragma once

#include <cstddef>

#include "engine/cuda/kernels/gemm_plan.h"
#include "engine/cuda/portable/bf16.h"
#include "engine/cuda/runtime/stream.h"

namespace starpo::cuda {

// c [m, n] (+)= a b + bias, every matrix row-major, products of T summed in fp32. What a and b are is the launcher's name.
//
// Sizes are any above 0, with three demands of T = Bf16: a and b are 16-byte aligned, lda and ldb are multiples of 8, and where the inner index is a
// row's (a in nt and nn, b in nt) k is a multiple of 8. A row may be read up to its size rounded up to 8, whatever lies there.
template <typename T, typename Out = T>
struct Gemm {
  int m, n, k;
  const T* a;
  int lda;
  const T* b;
  int ldb;
  Out* c;
  int ldc;
  const float* bias = nullptr;  // [n]
  bool accumulate = false;      // c += instead of c =; fp32 results only
  // An element's bits depend on its row of a, its column of b and k alone: not on m, n, its position or the GPU's size.
  // Without it a product with few tiles may be split along k, in a fixed order: the same bits in every run of one shape.
  bool exact = false;
};

// Where split products keep their partial sums. Without it nothing is split.
struct GemmWorkspace {
  float* partials = nullptr;
  std::size_t size = 0;  // floats
  int multiprocessors = 132;
};

// a [m, k], b [n, k]: y = x W^T.
template <typename T, typename Out>
void gemm_nt(Stream& stream, const Gemm<T, Out>& gemm, const GemmWorkspace& workspace = {});

// a [m, k], b [k, n]: dx = dy W.
template <typename T, typename Out>
void gemm_nn(Stream& stream, const Gemm<T, Out>& gemm, const GemmWorkspace& workspace = {});

// a [k, m], b [k, n]: dW += dy^T x.
template <typename T, typename Out>
void gemm_tn(Stream& stream, const Gemm<T, Out>& gemm, const GemmWorkspace& workspace = {});

// c [m, n] = silu(a Wg^T) * (a Wu^T) with b = Wg over Wu [2n, k]: what gemm_nt and then swiglu would give, to the bit in exact mode.
template <typename T>
void gemm_swiglu(Stream& stream, const Gemm<T>& gemm, const GemmWorkspace& workspace = {});

// The same with tiles and split given: for tests and timings. T = float has but one plan and ignores it.
void gemm_planned(Stream& stream, GemmLayout layout, const Gemm<Bf16>& gemm, const GemmPlan& plan, const GemmWorkspace& workspace = {});
void gemm_planned(Stream& stream, GemmLayout layout, const Gemm<Bf16, float>& gemm, const GemmPlan& plan, const GemmWorkspace& workspace = {});
void gemm_planned(Stream& stream, GemmLayout layout, const Gemm<float>& gemm, const GemmPlan& plan, const GemmWorkspace& workspace = {});
void gemm_swiglu_planned(Stream& stream, const Gemm<Bf16>& gemm, const GemmPlan& plan);
void gemm_swiglu_planned(Stream& stream, const Gemm<float>& gemm, const GemmPlan& plan);

}  // namespace starpo::cuda
