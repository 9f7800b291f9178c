#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "engine/cpu/cpu_trainable.h"
#include "model_fixtures.h"

namespace starpo {

namespace {

constexpr std::size_t kSize = 70003;  // several tasks and a tail
constexpr AdamWSettings kSettings{1e-2f, 0.9f, 0.99f, 1e-8f, 0.1f, 1.0f};

std::vector<std::uint8_t> decay_flags() {
  std::vector<std::uint8_t> flags(kSize);
  for (std::size_t i = 0; i < kSize; ++i) flags[i] = i % 3 != 0;
  return flags;
}

// Takes a whole step and returns the norm of the gradient before clipping. A non-finite norm changes no weights.
float step(AdamW& optimizer, std::span<float> weights, std::span<const float> gradients,
           std::span<const std::uint8_t> decayed, const AdamWSettings& settings, ThreadPool& threads) {
  const double squares = sum_of_squares(gradients, threads);
  const float norm = reduced_norm({&squares, 1});
  if (std::isfinite(norm))
    optimizer.step(weights, gradients, decayed, settings, clip_scale(norm, settings.gradient_clip), threads);
  return norm;
}

std::vector<float> three_steps(int thread_count, Isa isa) {
  const WithIsa selected(isa);
  ThreadPool threads(thread_count);
  AdamW optimizer(kSize);
  std::vector<float> weights = random_values(1, kSize);
  for (int i = 0; i < 3; ++i)
    weights.push_back(step(optimizer, std::span(weights).first(kSize), random_values(10 + i, kSize), decay_flags(),
                           kSettings, threads));
  return weights;
}

}  // namespace

TEST_CASE("AdamW matches the algorithm in double precision") {
  const std::vector<float> result = three_steps(2, selected_isa());
  const auto start = random_values(1, kSize);
  std::vector<double> weights(start.begin(), start.end()), first(kSize), second(kSize);
  const double beta1 = kSettings.beta1, beta2 = kSettings.beta2;
  for (int step = 1; step <= 3; ++step) {
    const auto gradients = random_values(9 + step, kSize);
    double squares = 0;
    for (const double g : gradients) squares += g * g;
    const double norm = std::sqrt(squares);
    CHECK(norm > kSettings.gradient_clip);
    CHECK(result[kSize + step - 1] == doctest::Approx(norm).epsilon(1e-6));
    for (std::size_t i = 0; i < kSize; ++i) {
      const double g = gradients[i] / norm;
      first[i] = beta1 * first[i] + (1 - beta1) * g;
      second[i] = beta2 * second[i] + (1 - beta2) * g * g;
      if (i % 3 != 0) weights[i] -= kSettings.learning_rate * kSettings.weight_decay * weights[i];
      weights[i] -= kSettings.learning_rate * (first[i] / (1 - std::pow(beta1, step))) /
                    (std::sqrt(second[i] / (1 - std::pow(beta2, step))) + kSettings.epsilon);
    }
  }
  double worst = 0;
  for (std::size_t i = 0; i < kSize; ++i) worst = std::max(worst, std::abs(weights[i] - result[i]));
  CHECK(worst < 1e-6);
}

TEST_CASE("AdamW is bit-identical for all thread counts and instruction sets") {
  const std::vector<float> expected = three_steps(1, Isa::scalar);
  for (const Isa isa : supported_isas())
    for (const int threads : {1, 2, 3}) {
      CAPTURE(isa_name(isa));
      CAPTURE(threads);
      CHECK(same_bits(three_steps(threads, isa), expected));
    }
}

TEST_CASE("a small gradient isn't clipped; a non-finite gradient changes no weights") {
  ThreadPool threads(1);
  AdamW optimizer(2);
  std::vector<float> weights = {1, 2};
  const std::vector<std::uint8_t> flags = {0, 0};
  const AdamWSettings plain{0.1f, 0, 0, 0, 0, 1};  // so that a step is learning rate * sign of the gradient
  CHECK(step(optimizer, weights, std::vector<float>{0.3f, -0.4f}, flags, plain, threads) == doctest::Approx(0.5));
  CHECK(optimizer.first_moment == std::vector<float>{0.3f, -0.4f});
  CHECK(weights[0] == doctest::Approx(0.9));
  CHECK(weights[1] == doctest::Approx(2.1));

  const std::vector<float> before = weights;
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    CHECK_FALSE(std::isfinite(step(optimizer, weights, std::vector<float>{bad, 1}, flags, plain, threads)));
    CHECK(weights == before);
    CHECK(optimizer.steps == 1);
    CHECK(optimizer.first_moment == std::vector<float>{0.3f, -0.4f});
  }
}

}  // namespace starpo
