// Runs the source of the elementwise kernels in the emulation, in many thread orders.
#include <doctest/doctest.h>

#include <cmath>

#include "algorithm/objectives.h"
#include "base/thread_pool.h"
#include "engine/cpu/cpu_trainable.h"
#include "engine/cuda/emulated/order.h"
#include "engine/cuda/kernels/adamw.h"
#include "engine/cuda/kernels/loss.h"
#include "engine/cuda/selftest/arrays.h"
#include "engine/cuda/selftest/self_test.h"
#include "thread_orders.h"

namespace starpo::cuda {
std::vector<Check> norm_checks();
std::vector<Check> rope_checks();
std::vector<Check> swiglu_checks();
std::vector<Check> embedding_checks();
std::vector<Check> value_head_checks();
std::vector<Check> loss_checks();
std::vector<Check> sampler_checks();
std::vector<Check> decode_state_checks();
std::vector<Check> adamw_checks();
}  // namespace starpo::cuda

using namespace starpo;
using namespace starpo::cuda;

namespace {

void check_in_every_order(const std::vector<Check>& checks) {
  CHECK_FALSE(checks.empty());
  Stream stream;
  for (const unsigned order : thread_orders()) {
    emulated::set_order(order);
    std::size_t ran = 0;
    run_checks(checks, "", stream, [&](const CheckResult& result) {
      CAPTURE(result.name);
      CAPTURE(order);
      CAPTURE(result.error);
      CAPTURE(result.failure);
      CHECK(result.ok);
      ++ran;
    });
    CHECK(ran == checks.size());
  }
  emulated::set_order(0);
}

}  // namespace

TEST_CASE("CUDA: norms and column sums match the reference in every thread order") {
  check_in_every_order(norm_checks());
}
TEST_CASE("CUDA: rotary embedding and cache writes match the reference in every thread order") {
  check_in_every_order(rope_checks());
}
TEST_CASE("CUDA: SwiGLU matches the reference in every thread order") { check_in_every_order(swiglu_checks()); }
TEST_CASE("CUDA: embedding lookup and gradient match the reference in every thread order") {
  check_in_every_order(embedding_checks());
}
TEST_CASE("CUDA: the value head matches the reference in every thread order") {
  check_in_every_order(value_head_checks());
}
TEST_CASE("CUDA: losses match the reference in every thread order") { check_in_every_order(loss_checks()); }
TEST_CASE("CUDA: the sampler follows its distribution in every thread order") {
  check_in_every_order(sampler_checks());
}
TEST_CASE("CUDA: decoding steps advance without the host in every thread order") {
  check_in_every_order(decode_state_checks());
}
TEST_CASE("CUDA: AdamW matches the reference in every thread order") { check_in_every_order(adamw_checks()); }

TEST_CASE("CUDA: the gradient of the logits matches finite differences of the CPU's loss") {
  constexpr int vocab = 11;
  const std::int32_t target = 4;
  const float temperature = 1.3f, weight = 0.5f, rollout_logprob = -2.1f, advantage = -0.8f, reference_logprob = -1.7f;
  PolicyLossConfig config;
  config.clip_low = config.clip_high = 0.2;
  config.entropy_coefficient = 0.1;
  const KlConfig kl{0.4, KlEstimator::k3, KlPlacement::loss, ""};
  const auto logits = random_numbers(vocab, 1, 0.5f);

  // Computed in double, except for log-probability and entropy, which are floats in the CPU's loss. So the steps are
  // wide.
  const auto loss_at = [&](std::vector<double> z) {
    double sum = 0, weighted = 0;
    for (double& value : z) sum += std::exp(value /= temperature);
    for (const double value : z) weighted += value * std::exp(value) / sum;
    const double logprob = z[target] - std::log(sum), entropy = std::log(sum) - weighted;
    const double token =
        clipped_objective(logprob - rollout_logprob, advantage, config.clip_low, config.clip_high, 0).value;
    return weight * (token - config.entropy_coefficient * entropy +
                     kl.coefficient * kl_estimate(kl.estimator, logprob, reference_logprob).value);
  };

  Stream stream;
  auto buffer = on_device(stream, logits), weights = on_device(stream, std::vector<float>{weight}),
       rollout = on_device(stream, std::vector<float>{rollout_logprob}),
       advantages = on_device(stream, std::vector<float>{advantage}),
       reference = on_device(stream, std::vector<float>{reference_logprob}), logprob = poisoned<float>(stream, 1),
       entropy = poisoned<float>(stream, 1);
  auto targets = on_device(stream, std::vector<std::int32_t>{target});
  auto gradients = poisoned<float>(stream, vocab);
  policy_loss(stream, {buffer.data(), 1, vocab, vocab, temperature},
              {targets.data(), weights.data(), rollout.data(), advantages.data(), reference.data()}, config, kl,
              logprob.data(), entropy.data(), gradients.data());
  const auto gradient = on_host(stream, gradients);
  for (int i = 0; i < vocab; ++i) {
    auto above = doubles(logits), below = above;
    above[i] += 1e-4;
    below[i] -= 1e-4;
    CHECK(gradient[i] == doctest::Approx((loss_at(above) - loss_at(below)) / 2e-4).epsilon(1e-4));
  }
}

TEST_CASE("CUDA: AdamW without clipping is bit-identical to the CPU's") {
  constexpr int size = 1003;
  const auto start = random_numbers(size, 2);
  std::vector<std::uint8_t> decayed(size);
  for (int i = 0; i < size; ++i) decayed[i] = i / 8 % 3 == 0;
  const AdamWSettings settings{3e-3f, 0.9f, 0.999f, 1e-8f, 0.05f, 0};
  ThreadPool threads(1);
  AdamW expected(size);
  std::vector<float> cpu_weights = start;

  Stream stream;
  auto weights = on_device(stream, start);
  DeviceBuffer<float> first(stream, size), second(stream, size);
  first.fill_zero(stream);
  second.fill_zero(stream);
  auto flags = on_device(stream, group_decay_flags(decayed));
  auto partials = poisoned<double>(stream, kNormPartials);
  auto report = poisoned<StepReport>(stream, 1);
  for (int step = 1; step <= 4; ++step) {
    const auto g = random_numbers(size, 2 + step);
    expected.step(cpu_weights, g, decayed, settings, 1, threads);
    auto gradients = on_device(stream, g);
    squared_norm(stream, size, gradients.data(), partials.data(), report.data());
    adamw(stream, size, {weights.data(), first.data(), second.data(), gradients.data(), nullptr, flags.data()},
          settings, 1, step, report.data());
    CHECK(on_host(stream, report)[0].squared_norm == doctest::Approx(sum_of_squares(g, threads)).epsilon(1e-6));
  }
  CHECK(same_bits(on_host(stream, weights), cpu_weights));
  CHECK(same_bits(on_host(stream, first), expected.first_moment));
  CHECK(same_bits(on_host(stream, second), expected.second_moment));
}

TEST_CASE("CUDA: decay flags are reduced to one per eight weights") {
  CHECK(group_decay_flags(std::vector<std::uint8_t>{1, 1, 1, 1, 1, 1, 1, 1, 0}) == std::vector<std::uint8_t>{1, 0});
  CHECK_THROWS_AS(group_decay_flags(std::vector<std::uint8_t>{1, 1, 0}), std::invalid_argument);
}
