#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/cuda/kernels/attention.h"

// Reference implementation of causal attention, in double precision on the host.
namespace starpo::cuda {

struct AttentionReference {
  std::vector<double> attended;     // [tokens, heads * head_dim]
  std::vector<double> log_sum_exp;  // [heads, tokens]
};

// qkv: [tokens, qkv_width]. Sequence i has the tokens [starts[i], starts[i + 1]).
AttentionReference attention_reference(const AttentionShape&, std::span<const std::int32_t> starts,
                                       std::span<const double> qkv);

// Returns the gradient of sum(attended * attended_gradient) with respect to qkv.
std::vector<double> attention_gradient_reference(const AttentionShape&, std::span<const std::int32_t> starts,
                                                 std::span<const double> qkv,
                                                 std::span<const double> attended_gradient);

}  // namespace starpo::cuda
