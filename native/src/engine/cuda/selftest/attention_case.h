#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/cuda/kernels/attention.h"
#include "engine/cuda/selftest/arrays.h"
#include "engine/cuda/selftest/check.h"

namespace starpo::cuda {

// Inputs of attention: sequences that begin with the same `prefix` tokens. Scores reach about 4, so that weights
// differ.
template <class T>
struct AttentionCase {
  AttentionShape shape;
  std::vector<std::int32_t> starts;
  std::vector<T> qkv;

  AttentionCase(int heads, int kv_heads, int head_dim, std::vector<std::int32_t> starts_, int prefix = 0)
      : shape{heads, kv_heads, head_dim, 1.0f / std::sqrt(static_cast<float>(head_dim))}, starts(std::move(starts_)) {
    const std::size_t width = static_cast<std::size_t>(shape.qkv_width());
    qkv = random_numbers<T>(tokens() * width, 1, 2);
    for (std::size_t i = 1; i + 1 < starts.size(); ++i)
      std::copy_n(qkv.begin(), prefix * width, qkv.begin() + starts[i] * width);
  }

  std::size_t tokens() const { return static_cast<std::size_t>(starts.back()); }
  std::size_t attended_size() const { return tokens() * shape.heads * shape.head_dim; }

  std::string name() const {
    return std::string(kIsBf16<T> ? "bf16 " : "fp32 ") + std::to_string(shape.heads) + "/" +
           std::to_string(shape.kv_heads) + "x" + std::to_string(shape.head_dim) + ", " + std::to_string(tokens()) +
           " tokens";
  }
};

// The results of attention_forward. Elements that it does not write are NaN.
template <class T>
struct ForwardResult {
  std::vector<T> attended;
  std::vector<float> log_sum_exp;

  ForwardResult(Stream& stream, const AttentionCase<T>& input) {
    const DeviceBuffer<T> qkv(stream, input.qkv);
    const DeviceBuffer<std::int32_t> starts(stream, input.starts);
    auto attended_buffer = poisoned<T>(stream, input.attended_size());
    auto log_sum_exp_buffer = poisoned<float>(stream, input.tokens() * input.shape.heads);
    attention_forward(stream, input.shape, packed_sequences(input.starts, starts.data()), qkv.data(),
                      attended_buffer.data(), log_sum_exp_buffer.data());
    attended = on_host(stream, attended_buffer);
    log_sum_exp = on_host(stream, log_sum_exp_buffer);
  }
};

std::vector<Check> attention_checks();         // forward and backward passes over packed sequences
std::vector<Check> cached_attention_checks();  // attention over the KV cache

}  // namespace starpo::cuda
