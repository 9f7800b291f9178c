#include "engine/cuda/kernels/column_sums.h"
#include "engine/cuda/kernels/value_head.h"
#include "engine/cuda/selftest/arrays.h"

namespace starpo::cuda {
namespace {

template <class T>
double value_head_error(Stream& stream, int rows, int columns) {
  const std::size_t count = static_cast<std::size_t>(rows) * columns;
  const auto features = random_numbers<T>(count, 51);
  const auto weight = random_numbers(columns, 52), bias = random_numbers(1, 53), slope = random_numbers(rows, 54),
             old = random_numbers(columns, 55);
  std::vector<double> values_expected(rows, bias[0]), features_expected(count), weight_expected = doubles(old),
                                                                                bias_expected = doubles(bias);
  for (std::size_t i = 0; i < count; ++i) {
    values_expected[i / columns] += to_float(features[i]) * static_cast<double>(weight[i % columns]);
    weight_expected[i % columns] += to_float(features[i]) * static_cast<double>(slope[i / columns]);
    features_expected[i] = static_cast<double>(slope[i / columns]) * weight[i % columns];
  }
  for (const float value : slope) bias_expected[0] += value;

  auto feature_buffer = on_device(stream, features), features_gradient = poisoned<T>(stream, count);
  auto weight_buffer = on_device(stream, weight), bias_buffer = on_device(stream, bias),
       slope_buffer = on_device(stream, slope);
  auto values = poisoned<float>(stream, rows), weight_gradient = on_device(stream, old),
       bias_gradient = on_device(stream, bias);
  auto partials = poisoned<float>(stream, column_sums_partials(rows, columns));
  value_head<T>(stream, rows, columns, feature_buffer.data(), weight_buffer.data(), bias_buffer.data(), values.data());
  value_head_backward<T>(stream, rows, columns, feature_buffer.data(), weight_buffer.data(), slope_buffer.data(),
                         features_gradient.data(), weight_gradient.data(), bias_gradient.data(), partials.data());
  return error_of(stream, values, values_expected) + error_of(stream, features_gradient, features_expected) +
         error_of(stream, weight_gradient, weight_expected) + error_of(stream, bias_gradient, bias_expected);
}

}  // namespace

std::vector<Check> value_head_checks() {
  return {{"value_head fp32 9x72", kFp32Tolerance, value_head_error<float>, 9, 72},
          {"value_head bf16 67x1096", kRoundingTolerance, value_head_error<Bf16>, 67, 1096}};
}

}  // namespace starpo::cuda
