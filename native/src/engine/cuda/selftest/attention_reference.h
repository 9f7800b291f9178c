#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/cuda/kernels/attention.h"

// Causal attention as the textbook writes it, in double on the host.
namespace starpo::cuda {

struct AttentionReference {
  std::vector<double> attended;     // [tokens, heads * head_dim]
  std::vector<double> log_sum_exp;  // [heads, tokens]
};

// qkv: [tokens, qkv_width], sequences from starts[i] up to starts[i + 1].
AttentionReference attention_reference(const AttentionShape&, std::span<const std::int32_t> starts,
                                       std::span<const double> qkv);

// The gradient of sum(attended * attended_gradient) by qkv.
std::vector<double> attention_gradient_reference(const AttentionShape&, std::span<const std::int32_t> starts,
                                                 std::span<const double> qkv,
                                                 std::span<const double> attended_gradient);

}  // namespace starpo::cuda
