#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "base/philox.h"
#include "engine/cpu/sampler.h"

using namespace starpo;

namespace {

std::vector<double> frequencies(const std::vector<float>& logits, const SamplingSettings& settings, int draws = 40000) {
  std::vector<double> share(logits.size());
  std::vector<float> scratch;
  const Philox random{7, RandomStream::train_sampling};
  for (int i = 0; i < draws; ++i)
    share[sample_token(logits, settings, uniform_open(random(0, 0, i, 0)[0]), scratch)] += 1.0 / draws;
  return share;
}

}  // namespace

TEST_CASE("sampling follows softmax(logits / temperature)") {
  const std::vector<float> logits{0, 1, 2, -30};
  for (float temperature : {0.5f, 1.0f, 2.0f}) {
    double total = 0;
    for (float logit : logits) total += std::exp(logit / temperature);
    const auto share = frequencies(logits, {temperature, 1, 0, 0});
    for (std::size_t i = 0; i < logits.size(); ++i)
      CHECK(std::abs(share[i] - std::exp(logits[i] / temperature) / total) < 0.01);
  }
}

// The same cases as in tests/core/policy.test.ts.
TEST_CASE("top-k, then min-p, then top-p keep the likely tokens") {
  const std::vector<float> logits{std::log(0.5f), std::log(0.3f), std::log(0.15f), std::log(0.05f)};
  const std::vector<double> two{0.625, 0.375, 0, 0}, one{1, 0, 0, 0};
  const auto check = [&](SamplingSettings settings, const std::vector<double>& expected) {
    const auto share = frequencies(logits, settings);
    for (std::size_t i = 0; i < logits.size(); ++i) {
      CHECK(std::abs(share[i] - expected[i]) < 0.01);
      CHECK((share[i] == 0) == (expected[i] == 0));
    }
  };
  check({.top_k = 2}, two);
  check({.top_p = 0.75f}, two);
  check({.min_p = 0.2f}, {10 / 19.0, 6 / 19.0, 3 / 19.0, 0});
  check({.top_p = 0.6f}, two);
  check({.top_p = 0.6f, .top_k = 2}, one);
  check({.top_p = 0.6f, .min_p = 0.5f}, one);
  check({.top_k = 3, .min_p = 0.5f}, two);
}

TEST_CASE("the bounds of the uniform range select the first and the last id") {
  std::vector<float> scratch;
  const std::vector<float> logits(5, 0.0f);
  CHECK(sample_token(logits, {}, uniform_open(0), scratch) == 0);
  CHECK(sample_token(logits, {}, uniform_open(0xffffffff), scratch) == 4);
}

TEST_CASE("non-finite logits are rejected") {
  std::vector<float> scratch;
  CHECK(sample_token(std::vector<float>{0, std::nanf("")}, {}, 0.5f, scratch) == -1);
  CHECK(sample_token(std::vector<float>{0, std::numeric_limits<float>::infinity()}, {}, 0.5f, scratch) == -1);
}
