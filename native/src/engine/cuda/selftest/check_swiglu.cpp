#include <cmath>

#include "engine/cuda/kernels/swiglu.h"
#include "engine/cuda/selftest/arrays.h"

namespace starpo::cuda {
namespace {

template <class T>
double elementwise_error(Stream& stream, int rows, int columns) {
  const std::size_t count = static_cast<std::size_t>(rows) * columns;
  auto gate_up = random_numbers<T>(2 * count, 31, 6);
  gate_up[0] = from_float<T>(-200);  // exp overflows: silu is 0
  const auto slope = random_numbers<T>(count, 32);
  std::vector<double> hidden_expected(count), gradient_expected(2 * count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = i / columns * 2 * columns + i % columns;
    const double gate = to_float(gate_up[at]), up = to_float(gate_up[at + columns]), s = 1 / (1 + std::exp(-gate)),
                 d = to_float(slope[i]);
    hidden_expected[i] = gate * s * up;
    gradient_expected[at] = d * up * s * (1 + gate * (1 - s));
    gradient_expected[at + columns] = d * gate * s;
  }
  auto gate_up_buffer = on_device(stream, gate_up), slope_buffer = on_device(stream, slope);
  auto hidden = poisoned<T>(stream, count);
  swiglu<T>(stream, rows, columns, gate_up_buffer.data(), hidden.data());
  swiglu_backward<T>(stream, rows, columns, gate_up_buffer.data(), slope_buffer.data(), gate_up_buffer.data());
  return error_of(stream, hidden, hidden_expected) + error_of(stream, gate_up_buffer, gradient_expected);
}

}  // namespace

std::vector<Check> swiglu_checks() {
  return {{"swiglu fp32 5x72", kFp32Tolerance, elementwise_error<float>, 5, 72},
          {"swiglu bf16 5x72", kRoundingTolerance, elementwise_error<Bf16>, 5, 72},
          {"swiglu fp32 1x8", kFp32Tolerance, elementwise_error<float>, 1, 8},
          {"swiglu bf16 3x264", kRoundingTolerance, elementwise_error<Bf16>, 3, 264}};
}

}  // namespace starpo::cuda
