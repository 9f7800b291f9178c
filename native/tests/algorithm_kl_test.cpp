#include <doctest/doctest.h>

#include <cmath>

#include "algorithm/objectives.h"

using namespace starpo;

TEST_CASE("KL estimates for a token with twice the reference probability") {
  const double logprob = std::log(0.5), reference = std::log(0.25), d = std::log(2);
  CHECK(kl_estimate(KlEstimator::k1, logprob, reference).value == doctest::Approx(d));
  CHECK(kl_estimate(KlEstimator::k2, logprob, reference).value == doctest::Approx(d * d / 2));
  CHECK(kl_estimate(KlEstimator::k3, logprob, reference).value == doctest::Approx(0.5 - 1 + d));
}

TEST_CASE("k1 and k3 are unbiased: their mean under the policy is the KL divergence") {
  const double policy[] = {0.7, 0.2, 0.1}, reference[] = {0.3, 0.3, 0.4};
  double divergence = 0, k1 = 0, k3 = 0;
  for (int i = 0; i < 3; ++i) {
    const double p = std::log(policy[i]), q = std::log(reference[i]);
    divergence += policy[i] * (p - q);
    k1 += policy[i] * kl_estimate(KlEstimator::k1, p, q).value;
    k3 += policy[i] * kl_estimate(KlEstimator::k3, p, q).value;
  }
  CHECK(k1 == doctest::Approx(divergence));
  CHECK(k3 == doctest::Approx(divergence));
}

TEST_CASE("loss and gradient of the KL term for every estimator") {
  for (const KlEstimator estimator : {KlEstimator::k1, KlEstimator::k2, KlEstimator::k3}) {
    const KlConfig config{0.3, estimator, KlPlacement::loss, ""};
    for (const float logprob : {-2.5f, -1.0f, -0.2f}) {
      const std::vector<float> reference{-1};
      const auto loss_at = [&](float x) {
        PolicyLossSums sums;
        std::vector<float> gradient{0};
        kl_loss(std::vector<float>{x}, reference, config, 0.5, sums, gradient);
        return std::pair(sums.loss, gradient[0]);
      };
      const float step = 1.0f / 1024;
      CHECK(loss_at(logprob).first == doctest::Approx(0.15 * kl_estimate(estimator, logprob, -1).value));
      CHECK(
          loss_at(logprob).second ==
          doctest::Approx((loss_at(logprob + step).first - loss_at(logprob - step).first) / (2 * step)).epsilon(1e-3));
    }
  }
}

TEST_CASE("k3 is clipped at 10 with zero gradient, also where exp overflows, and NaN stays NaN") {
  const auto near = kl_estimate(KlEstimator::k3, -5, -2.5), far = kl_estimate(KlEstimator::k3, -5, -2),
             farther = kl_estimate(KlEstimator::k3, -800, -1);
  CHECK(near.value == doctest::Approx(std::exp(2.5) - 3.5));
  CHECK(near.gradient == doctest::Approx(1 - std::exp(2.5)));
  for (const auto& cut : {far, farther, kl_estimate(KlEstimator::k3, -1, -13)}) {
    CHECK(cut.value == 10);
    CHECK(cut.gradient == 0);
  }
  CHECK(std::isnan(kl_estimate(KlEstimator::k3, std::nan(""), -1).value));
}

TEST_CASE("the gradient of the KL term is added to that of the policy loss") {
  PolicyLossSums sums;
  sums.loss = 1;
  std::vector<float> gradient{2};
  kl_loss(std::vector<float>{-1}, std::vector<float>{-2}, {0.5, KlEstimator::k1, KlPlacement::loss, ""}, 0.5, sums,
          gradient);
  CHECK(sums.loss == doctest::Approx(1.25));
  CHECK(sums.kl == doctest::Approx(0.25));
  CHECK(gradient[0] == doctest::Approx(2.25));
}

TEST_CASE("the log-prob difference reports mean, maximum and KL of two known distributions") {
  LogprobGap none;
  for (int i = 0; i < 3; ++i) none.add(0);
  CHECK(none.sum == 0);
  CHECK(none.largest == 0);
  CHECK(none.kl == 0);
  CHECK(none.tokens == 3);

  // The rollout's samples follow (3/4, 1/4) exactly, and the update's policy is (1/2, 1/2).
  LogprobGap gap;
  for (const double rollout : {0.75, 0.75, 0.75, 0.25}) gap.add(std::log(0.5) - std::log(rollout));
  CHECK(gap.largest == doctest::Approx(std::log(2)));
  CHECK(gap.sum / 4 == doctest::Approx(0.75 * std::log(1.5) + 0.25 * std::log(2)));
  CHECK(gap.kl / 4 == doctest::Approx(0.75 * std::log(1.5) - 0.25 * std::log(2)));
}
