// Each kernels_<isa>.cpp includes this file last.

// clang-format off: each header uses the ones above it.
#include "engine/cpu/kernels/exp_kernel.h"
#include "engine/cpu/kernels/elementwise_kernels.h"
#include "engine/cpu/kernels/gemm_kernels.h"
#include "engine/cpu/kernels/attention_kernels.h"
#include "engine/cpu/kernels/loss_kernels.h"
#include "engine/cpu/kernels/norm_kernels.h"
#include "engine/cpu/kernels/optimizer_kernels.h"
// clang-format on

namespace starpo::STARPO_ISA {

const Kernels& kernels() {
  static constexpr Kernels table{
      .multiply = multiply,
      .accumulate_transposed = accumulate_transposed,
      .attention = attention,
      .attention_weights = attention_weights,
      .attention_output = attention_output,
      .attention_backward = attention_backward,
      .norm = norm,
      .norm_backward = norm_backward,
      .norm_weight_gradient = norm_weight_gradient,
      .column_sums = column_sums,
      .add = add_to,
      .rotate = rotate,
      .swiglu = swiglu,
      .swiglu_backward = swiglu_backward,
      .logprob_entropy = logprob_entropy,
      .logit_gradient = logit_gradient,
      .sum_of_squares = sum_of_squares,
      .adamw = adamw,
  };
  return table;
}

}  // namespace starpo::STARPO_ISA
