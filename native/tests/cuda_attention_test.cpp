// Runs the attention kernels in the emulator, with thread schedules that expose missing barriers and copies read too
// early.
#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>

#include "engine/cuda/emulated/device.h"
#include "engine/cuda/emulated/order.h"
#include "engine/cuda/selftest/attention_case.h"
#include "engine/cuda/selftest/attention_reference.h"
#include "engine/cuda/selftest/self_test.h"
#include "thread_orders.h"

namespace starpo::cuda {

namespace {

void in_every_order(const std::vector<Check>& checks) {
  for (const unsigned order : thread_orders()) {
    CAPTURE(order);
    emulated::set_order(order);
    Stream stream;
    std::size_t ran = 0;
    run_checks(checks, "", stream, [&](const CheckResult& result) {
      CAPTURE(result.name);
      CAPTURE(result.failure);
      CAPTURE(result.error);
      CHECK(result.ok);
      ++ran;
    });
    CHECK(ran == checks.size());
  }
  emulated::set_order(0);
}

}  // namespace

TEST_CASE("cuda attention: forward and backward match the reference in every thread order") {
  in_every_order(attention_checks());
}

TEST_CASE("cuda attention: cached attention is bit-identical to the packed forward pass in every thread order") {
  in_every_order(cached_attention_checks());
}

TEST_CASE("cuda attention: the reference gradient matches finite differences") {
  const AttentionCase<float> of(4, 2, 16, {0, 3, 3, 9});
  const std::vector<double> qkv = doubles(of.qkv), attended_gradient = doubles(random_numbers(of.attended_size(), 2));
  const auto loss = [&](const std::vector<double>& inputs) {
    const std::vector<double> attended = attention_reference(of.shape, of.starts, inputs).attended;
    double sum = 0;
    for (std::size_t i = 0; i < attended.size(); ++i) sum += attended[i] * attended_gradient[i];
    return sum;
  };
  const std::vector<double> gradient = attention_gradient_reference(of.shape, of.starts, qkv, attended_gradient);
  constexpr double step = 1e-5;
  std::vector<double> differences(qkv.size());
  for (std::size_t i = 0; i < qkv.size(); ++i) {
    std::vector<double> above = qkv, below = qkv;
    above[i] += step;
    below[i] -= step;
    differences[i] = (loss(above) - loss(below)) / (2 * step);
  }
  CHECK(normalized_mean_square_error(gradient, differences) < 1e-16);
}

TEST_CASE("cuda attention: a head dimension without kernels is rejected") {
  CHECK(attention_supports(64));
  CHECK_FALSE(attention_supports(96));
  Stream stream;
  const AttentionCase<float> of(1, 1, 24, {0, 2});
  CHECK_THROWS_AS(ForwardResult<float>(stream, of), std::invalid_argument);
}

TEST_CASE("cuda attention: empty batches launch nothing") {
  Stream stream;
  const std::vector<std::int32_t> starts = {0, 0};
  CHECK(packed_sequences(starts, nullptr).longest == 0);
  const std::int64_t before = emulated::device_calls();
  attention_forward<float>(stream, {2, 1, 64, 1.0f}, packed_sequences(starts, nullptr), nullptr, nullptr, nullptr);
  cached_attention<float>(stream, {2, 1, 64, 1.0f}, {}, {0, nullptr, nullptr, CachedUse::prefill}, {}, nullptr,
                          nullptr);
  CHECK(emulated::device_calls() == before);
}

}  // namespace starpo::cuda
