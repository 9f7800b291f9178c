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
Check forward_check(AttentionCase<T> of) {
  return {"attention_forward " + of.name(), kAttentionTolerance<T>, [of](Stream& stream) {
            const AttentionReference reference = attention_reference(of.shape, of.starts, doubles(of.qkv));
            const ForwardResult<T> result(stream, of);
            return normalised_mean_square_error(doubles(result.attended), reference.attended) +
                   normalised_mean_square_error(doubles(result.log_sum_exp), reference.log_sum_exp);
          }};
}

// The columns of a [rows, width] matrix from `first` up to `end`.
std::vector<double> columns(std::span<const double> matrix, int width, int first, int end) {
  std::vector<double> part;
  for (std::size_t row = 0; row < matrix.size() / width; ++row)
    part.insert(part.end(), matrix.begin() + row * width + first, matrix.begin() + row * width + end);
  return part;
}

template <class T>
double backward_error(Stream& stream, const AttentionCase<T>& of) {
  const std::vector<T> attended_gradient = random_numbers<T>(of.attended_size(), 2);
  const std::vector<double> reference =
      attention_gradient_reference(of.shape, of.starts, doubles(of.qkv), doubles(attended_gradient));

  const ForwardResult<T> forward(stream, of);
  const DeviceBuffer<T> qkv(stream, of.qkv), attended(stream, forward.attended), gradient(stream, attended_gradient);
  const DeviceBuffer<float> log_sum_exp(stream, forward.log_sum_exp);
  const DeviceBuffer<std::int32_t> starts(stream, of.starts);
  DeviceBuffer<float> delta(forward.log_sum_exp.size());
  DeviceBuffer<T> qkv_gradient(of.qkv.size());
  delta.fill_poison(stream);
  qkv_gradient.fill_poison(stream);
  attention_backward(stream, of.shape, packed_sequences(of.starts, starts.data()), qkv.data(), attended.data(),
                     gradient.data(), log_sum_exp.data(), delta.data(), qkv_gradient.data());
  const std::vector<double> result = doubles(on_host(stream, qkv_gradient));

  const int width = of.shape.qkv_width(), keys = of.shape.heads * of.shape.head_dim,
            values = keys + of.shape.kv_heads * of.shape.head_dim;
  double error = 0;  // a sum, which keeps NaN
  for (const auto& [first, end] : {std::pair(0, keys), std::pair(keys, values), std::pair(values, width)})
    error += normalised_mean_square_error(columns(result, width, first, end), columns(reference, width, first, end));
  return error;
}

template <class T>
void add_checks(std::vector<Check>& checks) {
  // An empty sequence, one of a token, lengths about a block of keys; groups of 7, 2, 1 and 8 heads.
  const std::vector<AttentionCase<T>> cases = {
      {7, 1, 16, {0, 1, 66, 66, 83}},
      {4, 2, 32, {0, 63, 127, 192}},
      {1, 1, 64, {0, 150, 187}},
      {2, 1, 64, {0, 65}},
      {8, 1, 128, {0, 9}},
      {2, 1, 128, {0, 70}},
  };
  for (const AttentionCase<T>& of : cases) {
    checks.push_back(forward_check(of));
    checks.push_back({"attention_backward " + of.name(), kAttentionTolerance<T>,
                      [of](Stream& stream) { return backward_error(stream, of); }});
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
