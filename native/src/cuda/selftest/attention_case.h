#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cuda/kernels/attention.h"
#include "cuda/portable/bf16.h"
#include "cuda/runtime/memory.h"

namespace starpo::cuda {

// Evenly spread in [-1, 1), the same on every machine.
inline std::vector<float> pseudo_random(std::size_t count, std::uint32_t state) {
  std::vector<float> values(count);
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) * 0x1p-23f - 1.0f;
  }
  return values;
}

template <class T>
std::vector<T> rounded(std::span<const float> values) {
  std::vector<T> result;
  for (const float value : values) result.push_back(from_float<T>(value));
  return result;
}

template <class T>
std::vector<double> as_double(std::span<const T> values) {
  std::vector<double> result;
  for (const T value : values) result.push_back(to_float(value));
  return result;
}

template <class T>
std::vector<T> downloaded(Stream& stream, const DeviceBuffer<T>& buffer) {
  std::vector<T> values(buffer.size());
  buffer.download(stream, values);
  return values;
}

template <class T>
constexpr const char* number_name = "fp32";
template <>
inline constexpr const char* number_name<Bf16> = "bf16";

// Sequences that begin with the same `prefix` tokens, and what attention reads of them. Scores reach about 4, so that weights differ.
template <class T>
struct AttentionCase {
  AttentionShape shape;
  std::vector<std::int32_t> starts;
  std::vector<T> qkv;

  AttentionCase(int heads, int kv_heads, int head_dim, std::vector<std::int32_t> starts_, int prefix = 0)
      : shape{heads, kv_heads, head_dim, 1.0f / std::sqrt(static_cast<float>(head_dim))}, starts(std::move(starts_)) {
    const std::size_t width = static_cast<std::size_t>(shape.qkv_width());
    std::vector<float> values = pseudo_random(tokens() * width, 1);
    for (float& value : values) value *= 2.0f;
    for (std::size_t i = 1; i + 1 < starts.size(); ++i) std::copy_n(values.begin(), prefix * width, values.begin() + starts[i] * width);
    qkv = rounded<T>(values);
  }

  std::size_t tokens() const { return static_cast<std::size_t>(starts.back()); }
  std::size_t attended_size() const { return tokens() * shape.heads * shape.head_dim; }

  std::string name() const {
    return std::string(number_name<T>) + " " + std::to_string(shape.heads) + "/" + std::to_string(shape.kv_heads) + "x" + std::to_string(shape.head_dim) + ", " +
           std::to_string(tokens()) + " tokens";
  }
};

// attention_forward's results; what it does not write stays NaN.
template <class T>
struct ForwardResult {
  std::vector<T> attended;
  std::vector<float> log_sum_exp;

  ForwardResult(Stream& stream, const AttentionCase<T>& of) {
    const DeviceBuffer<T> qkv(stream, of.qkv);
    const DeviceBuffer<std::int32_t> starts(stream, of.starts);
    DeviceBuffer<T> attended_buffer(of.attended_size());
    DeviceBuffer<float> log_sum_exp_buffer(of.tokens() * of.shape.heads);
    attended_buffer.fill_poison(stream);
    log_sum_exp_buffer.fill_poison(stream);
    attention_forward(stream, of.shape, packed_sequences(of.starts, starts.data()), qkv.data(), attended_buffer.data(), log_sum_exp_buffer.data());
    attended = downloaded(stream, attended_buffer);
    log_sum_exp = downloaded(stream, log_sum_exp_buffer);
  }
};

}  // namespace starpo::cuda
