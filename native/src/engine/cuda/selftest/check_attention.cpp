#include <utility>

#include "engine/cuda/selftest/attention_case.h"
#include "engine/cuda/selftest/attention_reference.h"

namespace starpo::cuda {
namespace {

template <class T>
constexpr double kAttentionTolerance = kFp32Tolerance;
template <>
constexpr double kAttentionTolerance<Bf16> = kBf16Tolerance;

template <class T>
double forward_error(Stream& stream, const AttentionCase<T>& input) {
  const AttentionReference reference = attention_reference(input.shape, input.starts, doubles(input.qkv));
  const ForwardResult<T> result(stream, input);
  return normalized_mean_square_error(doubles(result.attended), reference.attended) +
         normalized_mean_square_error(doubles(result.log_sum_exp), reference.log_sum_exp);
}

// Returns the columns [first, end) of a [rows, width] matrix.
std::vector<double> columns(std::span<const double> matrix, int width, int first, int end) {
  std::vector<double> part;
  for (std::size_t row = 0; row < matrix.size() / width; ++row)
    part.insert(part.end(), matrix.begin() + row * width + first, matrix.begin() + row * width + end);
  return part;
}

template <class T>
double backward_error(Stream& stream, const AttentionCase<T>& input) {
  const std::vector<T> attended_gradient = random_numbers<T>(input.attended_size(), 2);
  const std::vector<double> reference =
      attention_gradient_reference(input.shape, input.starts, doubles(input.qkv), doubles(attended_gradient));

  const ForwardResult<T> forward(stream, input);
  const DeviceBuffer<T> qkv(stream, input.qkv), attended(stream, forward.attended), gradient(stream, attended_gradient);
  const DeviceBuffer<float> log_sum_exp(stream, forward.log_sum_exp);
  const DeviceBuffer<std::int32_t> starts(stream, input.starts);
  auto delta = poisoned<float>(stream, forward.log_sum_exp.size());
  auto qkv_gradient = poisoned<T>(stream, input.qkv.size());
  attention_backward(stream, input.shape, packed_sequences(input.starts, starts.data()), qkv.data(), attended.data(),
                     gradient.data(), log_sum_exp.data(), delta.data(), qkv_gradient.data());
  const std::vector<double> result = doubles(on_host(stream, qkv_gradient));

  const int width = input.shape.qkv_width(), keys = input.shape.heads * input.shape.head_dim,
            values = keys + input.shape.kv_heads * input.shape.head_dim;
  double error = 0;  // a sum, because NaN must propagate
  for (const auto& [first, end] : {std::pair(0, keys), std::pair(keys, values), std::pair(values, width)})
    error += normalized_mean_square_error(columns(result, width, first, end), columns(reference, width, first, end));
  return error;
}

template <class T>
void add_checks(std::vector<Check>& checks) {
  // An empty sequence, one of a single token, lengths around a block of keys, and groups of 7, 2, 1 and 8 heads.
  const std::vector<AttentionCase<T>> cases = {
      {7, 1, 16, {0, 1, 66, 66, 83}},
      {4, 2, 32, {0, 63, 127, 192}},
      {1, 1, 64, {0, 150, 187}},
      {2, 1, 64, {0, 65}},
      {8, 1, 128, {0, 9}},
      {2, 1, 128, {0, 70}},
  };
  for (const AttentionCase<T>& input : cases) {
    checks.push_back({"attention_forward " + input.name(), kAttentionTolerance<T>, forward_error<T>, input});
    checks.push_back({"attention_backward " + input.name(), kAttentionTolerance<T>, backward_error<T>, input});
  }
}

}  // namespace

std::vector<Check> attention_checks() {
  std::vector<Check> checks;
  add_checks<float>(checks);
  add_checks<Bf16>(checks);
  return checks;
}

}  // namespace starpo::cuda
