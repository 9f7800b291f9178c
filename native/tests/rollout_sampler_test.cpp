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

TEST_CASE("top-k, top-p and min-p keep the likely tokens") {
  const std::vector<float> logits{std::log(0.5f), std::log(0.3f), std::log(0.15f), std::log(0.05f)};
  const auto top_k = frequencies(logits, {1, 1, 2, 0});
  CHECK(std::abs(top_k[0] - 0.625) < 0.01);
  CHECK(top_k[2] == 0);
  const auto top_p = frequencies(logits, {1, 0.75f, 0, 0});
  CHECK(std::abs(top_p[1] - 0.375) < 0.01);
  CHECK(top_p[2] == 0);
  const auto min_p = frequencies(logits, {1, 1, 0, 0.2f});
  CHECK(std::abs(min_p[2] - 0.15 / 0.95) < 0.01);
  CHECK(min_p[3] == 0);
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
