#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "engine/cuda/kernels/gemm.h"
#include "engine/cuda/runtime/memory.h"
#include "engine/cuda/selftest/arrays.h"

namespace starpo::cuda {

// Returns uniform random values in (-1, 1). The padding of rows is 0 up to column `zeros_end` and NaN from there.
template <typename T>
std::vector<T> random_matrix(int rows, int columns, int ld, std::uint32_t seed, int zeros_end = 0) {
  std::vector<T> values = random_numbers<T>(static_cast<std::size_t>(rows) * static_cast<std::size_t>(ld), seed);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (const int column = static_cast<int>(i % static_cast<std::size_t>(ld)); column >= columns)
      values[i] = from_float<T>(column < zeros_end ? 0.0f : std::numeric_limits<float>::quiet_NaN());
  return values;
}

// A product with its operands on the host and on the device. Rows are padded.
template <typename T, typename Out>
struct GemmProblem {
  GemmLayout layout;
  int m, n, k;
  int lda, ldb, ldc;
  std::vector<T> a, b;
  std::vector<float> bias, before;  // before: values of c to which the product is added
  DeviceBuffer<T> device_a, device_b;
  DeviceBuffer<Out> device_c;
  DeviceBuffer<float> device_bias, partials;

  // c_padding: padding of the rows of c. If ldc is even, kernels store two elements at once.
  GemmProblem(Stream& stream, GemmLayout layout_, int m_, int n_, int k_, int c_padding = 3)
      : layout(layout_),
        m(m_),
        n(n_),
        k(k_),
        lda(padded(a_columns())),
        ldb(padded(b_columns())),
        ldc(n + c_padding),
        a(random_matrix<T>(layout == GemmLayout::tn ? k : m, a_columns(), lda, 1,
                           layout == GemmLayout::nn ? rounded_up(k) : 0)),
        b(random_matrix<T>(layout == GemmLayout::nt ? n : k, b_columns(), ldb, 2)),
        bias(random_matrix<float>(1, n, n, 3)),
        before(random_matrix<float>(m, n, ldc, 4)),
        device_a(stream, a),
        device_b(stream, b),
        device_c(stream, before.size()),
        device_bias(stream, bias),
        partials(stream, static_cast<std::size_t>(16) * static_cast<std::size_t>(m) * static_cast<std::size_t>(n + 1)) {
    device_c.fill_poison(stream);
    partials.fill_poison(stream);
  }

  Gemm<T, Out> gemm() { return {m, n, k, device_a.data(), lda, device_b.data(), ldb, device_c.data(), ldc}; }
  GemmWorkspace workspace() { return {partials.data(), partials.size(), 132}; }

  double a_at(int row, int depth) const {
    return layout == GemmLayout::tn ? at(a, lda, depth, row) : at(a, lda, row, depth);
  }
  double b_at(int depth, int column) const {
    return layout == GemmLayout::nt ? at(b, ldb, column, depth) : at(b, ldb, depth, column);
  }

  std::vector<double> reference(bool with_bias, bool accumulate) const {
    std::vector<double> result;
    for (int row = 0; row < m; ++row)
      for (int column = 0; column < n; ++column) {
        double sum = accumulate ? at(before, ldc, row, column) : 0;
        if (with_bias) sum += bias[static_cast<std::size_t>(column)];
        for (int depth = 0; depth < k; ++depth) sum += a_at(row, depth) * b_at(depth, column);
        result.push_back(sum);
      }
    return result;
  }

  // Returns c without padding, or only NaN if the kernel wrote to the padding.
  std::vector<float> result(Stream& stream) {
    const std::vector<Out> c = on_host(stream, device_c);
    std::vector<float> values;
    bool padding_unchanged = true;
    for (std::size_t i = 0; i < c.size(); ++i) {
      const float value = to_float(c[i]);
      if (static_cast<int>(i % static_cast<std::size_t>(ldc)) < n)
        values.push_back(value);
      else
        padding_unchanged = padding_unchanged && value != value;
    }
    if (!padding_unchanged) values.assign(values.size(), std::numeric_limits<float>::quiet_NaN());
    return values;
  }

 private:
  static int rounded_up(int columns) { return (columns + 7) / 8 * 8; }
  static int padded(int columns) { return rounded_up(columns) + 8; }
  int a_columns() const { return layout == GemmLayout::tn ? m : k; }
  int b_columns() const { return layout == GemmLayout::nt ? k : n; }
  template <typename V>
  static double at(const std::vector<V>& matrix, int ld, int row, int column) {
    return to_float(
        matrix[static_cast<std::size_t>(row) * static_cast<std::size_t>(ld) + static_cast<std::size_t>(column)]);
  }
};

}  // namespace starpo::cuda
