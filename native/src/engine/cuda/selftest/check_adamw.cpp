#include <cmath>
#include <limits>

#include "engine/cuda/kernels/adamw.h"
#include "engine/cuda/selftest/arrays.h"

namespace starpo::cuda {
namespace {

constexpr float kLearningRate = 1e-2f, kBeta1 = 0.9f, kBeta2 = 0.95f, kAdamEpsilon = 1e-8f, kWeightDecay = 0.1f;

// Compares three steps with algorithm 2 of Loshchilov & Hutter in double precision. gradient_clip 0 disables clipping.
double steps(Stream& stream, int size, float gradient_clip) {
  const auto start = random_numbers(size, 71);
  std::vector<std::uint8_t> decayed(size);
  for (int i = 0; i < size; ++i) decayed[i] = i / 8 % 2;
  auto w = doubles(start);
  std::vector<double> m(size), v(size);

  auto weights = on_device(stream, start);
  auto rounded = poisoned<Bf16>(stream, size);
  DeviceBuffer<float> first(stream, size), second(stream, size);
  first.fill_zero(stream);
  second.fill_zero(stream);
  auto flags = on_device(stream, group_decay_flags(decayed));
  auto partials = poisoned<double>(stream, kNormPartials);
  auto report = poisoned<StepReport>(stream, 1);
  double error = 0;
  for (int step = 1; step <= 3; ++step) {
    const auto g = random_numbers(size, 71 + step);
    double squares = 0;
    for (const double x : g) squares += x * x;
    const double norm = std::sqrt(squares),
                 scale = gradient_clip > 0 && norm > gradient_clip ? gradient_clip / norm : 1;
    for (int i = 0; i < size; ++i) {
      m[i] = kBeta1 * m[i] + (1.0f - kBeta1) * (g[i] * scale);
      v[i] = kBeta2 * v[i] + (1.0f - kBeta2) * (g[i] * scale) * (g[i] * scale);
      w[i] -= decayed[i] * static_cast<double>(kLearningRate) * kWeightDecay * w[i];
      w[i] -= kLearningRate * (m[i] / (1 - std::pow(kBeta1, step))) /
              (std::sqrt(v[i] / (1 - std::pow(kBeta2, step))) + kAdamEpsilon);
    }
    auto gradients = on_device(stream, g);
    squared_norm(stream, size, gradients.data(), partials.data(), report.data());
    const double squared = on_host(stream, report)[0].squared_norm;
    const float computed_norm = reduced_norm({&squared, 1});
    adamw(stream, size, {weights.data(), first.data(), second.data(), gradients.data(), rounded.data(), flags.data()},
          {kLearningRate, kBeta1, kBeta2, kAdamEpsilon, kWeightDecay, gradient_clip},
          clip_scale(computed_norm, gradient_clip), step, report.data());
    error += std::pow(computed_norm / norm - 1, 2) + on_host(stream, report)[0].non_finite_weights;
  }
  error += error_of(stream, weights, w) + error_of(stream, first, m) + error_of(stream, second, v);
  std::vector<Bf16> expected;
  for (const float weight : on_host(stream, weights)) expected.push_back(from_float<Bf16>(weight));
  const bool same = same_bits(on_host(stream, rounded), expected);
  return error + (same ? 0 : 1);
}

// The norm of a non-finite gradient is not finite, and non-finite weights are reported.
double reports_non_finite_values(Stream& stream) {
  constexpr int size = 21;
  const auto start = random_numbers(size, 75), moments = random_numbers(size, 76, 0.01f);
  std::vector<float> squares;
  for (const float moment : moments) squares.push_back(moment * moment);
  auto weights = on_device(stream, start), first = on_device(stream, moments), second = on_device(stream, squares);
  auto rounded = poisoned<Bf16>(stream, size);
  auto flags = on_device(stream, std::vector<std::uint8_t>(3, 1));
  auto partials = poisoned<double>(stream, kNormPartials);
  auto report = poisoned<StepReport>(stream, 1);
  const auto norm = [&](const std::vector<float>& g) {
    auto gradients = on_device(stream, g);
    squared_norm(stream, size, gradients.data(), partials.data(), report.data());
    return on_host(stream, report)[0];
  };
  const auto non_finite_after = [&](const std::vector<float>& g, float rate) {
    auto gradients = on_device(stream, g);
    norm(g);
    adamw(stream, size, {weights.data(), first.data(), second.data(), gradients.data(), rounded.data(), flags.data()},
          {rate, kBeta1, kBeta2, kAdamEpsilon, kWeightDecay, 1}, 1, 1, report.data());
    return on_host(stream, report)[0].non_finite_weights;
  };
  auto g = random_numbers(size, 77);
  g[19] = std::numeric_limits<float>::quiet_NaN();
  bool correct = std::isnan(norm(g).squared_norm) && norm(g).non_finite_weights == 0;
  g[19] = std::numeric_limits<float>::infinity();
  correct = correct && std::isinf(norm(g).squared_norm);
  g[19] = 0;
  correct = correct && non_finite_after(g, kLearningRate) == 0 &&
            non_finite_after(g, std::numeric_limits<float>::infinity()) == 1;
  return correct ? 0 : 1;
}

}  // namespace

std::vector<Check> adamw_checks() {
  return {{"adamw of 8 weights", kFp32Tolerance, steps, 8, 0},
          {"adamw of 5003 weights, clipped", kFp32Tolerance, steps, 5003, 1},
          {"adamw with non-finite values", kExact, reports_non_finite_values}};
}

}  // namespace starpo::cuda
