#include <cmath>

#include "engine/cuda/kernels/column_sums.h"
#include "engine/cuda/kernels/norm.h"
#include "engine/cuda/selftest/arrays.h"

namespace starpo::cuda {
namespace {

constexpr float kNormEpsilon = 1e-6f;

std::vector<double> reciprocals(int rows, int columns, const std::vector<double>& x) {
  std::vector<double> result;
  for (int r = 0; r < rows; ++r) {
    double squares = 0;
    for (int c = 0; c < columns; ++c) squares += x[r * columns + c] * x[r * columns + c];
    result.push_back(1 / std::sqrt(squares / columns + kNormEpsilon));
  }
  return result;
}

template <class T>
double forward(Stream& stream, int rows, int columns, bool adds) {
  const std::size_t count = static_cast<std::size_t>(rows) * columns;
  const auto x = random_numbers(count, 1, 3), weight = random_numbers(columns, 2);
  const auto delta = random_numbers<T>(count, 3);
  auto summed = doubles(x);
  if (adds)
    for (std::size_t i = 0; i < count; ++i) summed[i] += to_float(delta[i]);
  const auto factors = reciprocals(rows, columns, summed);
  std::vector<double> expected(count);
  for (std::size_t i = 0; i < count; ++i) expected[i] = summed[i] * factors[i / columns] * weight[i % columns];

  auto x_buffer = on_device(stream, x), weight_buffer = on_device(stream, weight);
  auto delta_buffer = on_device(stream, delta), normed = poisoned<T>(stream, count);
  auto factor_buffer = poisoned<float>(stream, rows);
  residual_norm<T>(stream, rows, columns, x_buffer.data(), adds ? delta_buffer.data() : nullptr, weight_buffer.data(),
                   kNormEpsilon, normed.data(), adds ? factor_buffer.data() : nullptr);
  double error = error_of(stream, normed, expected) + error_of(stream, x_buffer, summed);
  if (adds) error += error_of(stream, factor_buffer, factors);
  return error;
}

template <class T>
double backward(Stream& stream, int rows, int columns) {
  const std::size_t count = static_cast<std::size_t>(rows) * columns;
  const auto x = random_numbers(count, 4, 2), weight = random_numbers(columns, 5), old_x = random_numbers(count, 6),
             old_weight = random_numbers(columns, 7);
  const auto slope = random_numbers<T>(count, 8);
  std::vector<float> factors;
  for (const double factor : reciprocals(rows, columns, doubles(x))) factors.push_back(static_cast<float>(factor));

  auto x_expected = doubles(old_x), weight_expected = doubles(old_weight);
  for (int r = 0; r < rows; ++r) {
    double mean = 0;
    for (int c = 0; c < columns; ++c) {
      const std::size_t i = static_cast<std::size_t>(r) * columns + c;
      const double unit = static_cast<double>(x[i]) * factors[r];
      mean += to_float(slope[i]) * static_cast<double>(weight[c]) * unit / columns;
      weight_expected[c] += to_float(slope[i]) * unit;
    }
    for (int c = 0; c < columns; ++c) {
      const std::size_t i = static_cast<std::size_t>(r) * columns + c;
      x_expected[i] +=
          (to_float(slope[i]) * static_cast<double>(weight[c]) - static_cast<double>(x[i]) * factors[r] * mean) *
          factors[r];
    }
  }

  auto x_buffer = on_device(stream, x), weight_buffer = on_device(stream, weight),
       factor_buffer = on_device(stream, factors);
  auto slope_buffer = on_device(stream, slope);
  auto x_gradient = on_device(stream, old_x), weight_gradient = on_device(stream, old_weight);
  auto rounded = poisoned<T>(stream, x.size());
  auto partials = poisoned<float>(stream, norm_backward_partials(rows, columns));
  norm_backward<T>(stream, rows, columns, x_buffer.data(), weight_buffer.data(), factor_buffer.data(),
                   slope_buffer.data(), x_gradient.data(), rounded.data(), weight_gradient.data(), partials.data());
  std::vector<T> rounded_expected;
  for (const float value : on_host(stream, x_gradient)) rounded_expected.push_back(from_float<T>(value));
  if (!same_bits(on_host(stream, rounded), rounded_expected)) return 1;
  return error_of(stream, x_gradient, x_expected) + error_of(stream, weight_gradient, weight_expected);
}

template <class T>
double moves_rows(Stream& stream, int columns) {
  constexpr int named = 9;
  const std::vector<std::int32_t> index{7, 0, 3, 8, 2};
  const int listed = static_cast<int>(index.size());
  const auto from = random_numbers<T>(named * columns, 9), old = random_numbers<T>(named * columns, 10);
  auto from_buffer = on_device(stream, from), gathered = poisoned<T>(stream, listed * columns),
       scattered = on_device(stream, old);
  auto index_buffer = on_device(stream, index);
  gather_rows<T>(stream, listed, columns, from_buffer.data(), index_buffer.data(), gathered.data());
  scatter_rows<T>(stream, listed, columns, gathered.data(), index_buffer.data(), scattered.data());
  std::vector<T> gather_expected, scatter_expected = old;
  for (const int row : index)
    for (int c = 0; c < columns; ++c) {
      gather_expected.push_back(from[row * columns + c]);
      scatter_expected[row * columns + c] = from[row * columns + c];
    }
  return same_bits(on_host(stream, gathered), gather_expected) &&
                 same_bits(on_host(stream, scattered), scatter_expected)
             ? 0
             : 1;
}

template <class T>
double sums_columns(Stream& stream, int rows, int columns) {
  const std::size_t count = static_cast<std::size_t>(rows) * columns;
  const auto x = random_numbers<T>(count, 11);
  const auto factors = random_numbers(rows, 12), old = random_numbers(columns, 13);
  auto plain_expected = doubles(old), weighted_expected = doubles(old);
  for (std::size_t i = 0; i < count; ++i) {
    plain_expected[i % columns] += to_float(x[i]);
    weighted_expected[i % columns] += static_cast<double>(factors[i / columns]) * to_float(x[i]);
  }
  auto x_buffer = on_device(stream, x);
  auto factor_buffer = on_device(stream, factors), plain = on_device(stream, old), weighted = on_device(stream, old);
  auto partials = poisoned<float>(stream, column_sums_partials(rows, columns));
  column_sums<T>(stream, rows, columns, x_buffer.data(), plain.data(), partials.data());
  weighted_column_sums<T>(stream, rows, columns, factor_buffer.data(), x_buffer.data(), weighted.data(),
                          partials.data());
  return error_of(stream, plain, plain_expected) + error_of(stream, weighted, weighted_expected);
}

template <class T>
void append_norm_checks(std::vector<Check>& checks) {
  const double tolerance = kElementwiseTolerance<T>;
  checks.push_back({"norm" + type_name<T>() + "5x72", tolerance, forward<T>, 5, 72, true});
  checks.push_back({"norm" + type_name<T>() + "3x1096", tolerance, forward<T>, 3, 1096, true});
  checks.push_back({"norm" + type_name<T>() + "1x8, without delta", tolerance, forward<T>, 1, 8, false});
  checks.push_back({"norm_backward" + type_name<T>() + "7x72", kFp32Tolerance, backward<T>, 7, 72});
  checks.push_back({"norm_backward" + type_name<T>() + "2x1096", kFp32Tolerance, backward<T>, 2, 1096});
  checks.push_back({"gather_rows and scatter_rows" + type_name<T>() + "of 1096 columns", kExact, moves_rows<T>, 1096});
  checks.push_back({"column_sums" + type_name<T>() + "131x264", kFp32Tolerance, sums_columns<T>, 131, 264});
  checks.push_back({"column_sums" + type_name<T>() + "1x8", kFp32Tolerance, sums_columns<T>, 1, 8});
}

}  // namespace

std::vector<Check> norm_checks() {
  std::vector<Check> checks;
  append_norm_checks<float>(checks);
  append_norm_checks<Bf16>(checks);
  // More rows than blocks, so that some blocks process two rows.
  checks.push_back({"norm_backward fp32 1027x8", kFp32Tolerance, backward<float>, 1027, 8});
  return checks;
}

}  // namespace starpo::cuda
