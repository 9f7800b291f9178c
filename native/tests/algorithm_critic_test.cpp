#include <doctest/doctest.h>

#include <cmath>

#include "algorithm/advantage.h"
#include "algorithm/objectives.h"
#include "algorithm/statistics.h"

using namespace starpo;

namespace {

std::vector<double> advantages_of(const std::vector<double>& rewards, const std::vector<double>& values, double gamma,
                                  double lambda) {
  std::vector<double> advantages(rewards.size());
  generalized_advantages(rewards, values, gamma, lambda, advantages);
  return advantages;
}

struct ValueOutcome {
  double loss;
  float gradient;
};

ValueOutcome value_outcome(float value, float old_value, double target, double clip) {
  std::vector<float> gradient(1);
  const double loss = value_loss(std::vector<float>{value}, std::vector<float>{old_value}, std::vector<double>{target},
                                 {true}, clip, 0.5, gradient);
  return {loss, gradient[0]};
}

}  // namespace

TEST_CASE("the critic's loss and gradient skip tokens outside the mask") {
  std::vector<float> gradients{9, 9};
  const std::vector<float> values{1, 2};
  CHECK(value_loss(values, values, std::vector<double>{0, 0}, {false, true}, 0, 0.5, gradients) == 1);
  CHECK(gradients == std::vector<float>{0, 1});
}

TEST_CASE("generalized advantages match a hand-computed example of three tokens") {
  // Residuals, last to first: 1 - 0.5 = 0.5; -0.1 + 0.9 * 0.5 - 0.25 = 0.1; 0.9 * 0.25 - 0.75 = -0.525. Each advantage
  // adds 0.9 * 0.5 times the next advantage.
  const auto advantages = advantages_of({0, -0.1, 1}, {0.75, 0.25, 0.5}, 0.9, 0.5);
  CHECK(advantages[2] == doctest::Approx(0.5));
  CHECK(advantages[1] == doctest::Approx(0.1 + 0.45 * 0.5));
  CHECK(advantages[0] == doctest::Approx(-0.525 + 0.45 * 0.325));
}

TEST_CASE("lambda 1 gives the discounted return minus the value, lambda 0 the residual") {
  const std::vector<double> rewards{0.2, -0.3, 0, 1.5};
  const std::vector<double> values{0.5, 1, -0.25, 0.75};
  std::vector<double> returns(4);
  returns_to_go(rewards, 0.8, returns);
  CHECK(returns[0] == doctest::Approx(0.2 - 0.3 * 0.8 + 1.5 * 0.8 * 0.8 * 0.8));
  const auto whole = advantages_of(rewards, values, 0.8, 1), residual = advantages_of(rewards, values, 0.8, 0);
  for (std::size_t t = 0; t < 4; ++t) {
    const double next = t < 3 ? values[t + 1] : 0;
    CHECK(whole[t] == doctest::Approx(returns[t] - values[t]));
    CHECK(residual[t] == doctest::Approx(rewards[t] + 0.8 * next - values[t]));
  }
}

TEST_CASE("whitened advantages have mean 0 and standard deviation 1 over all tokens; equal advantages become 0") {
  std::vector<std::vector<double>> advantages{{1, 2}, {4}, {-3, 0.5, 7}}, equal{{0.1, 0.1}, {0.1}}, one{{0.7}};
  const std::vector<int> one_environment(3, 0);
  whiten(advantages, one_environment);
  std::vector<double> all;
  for (const auto& part : advantages) all.insert(all.end(), part.begin(), part.end());
  CHECK(mean(all) == doctest::Approx(0).epsilon(1e-12));
  CHECK(standard_deviation(all) == doctest::Approx(1).epsilon(1e-6));
  CHECK(advantages[2][2] > advantages[1][0]);
  whiten(equal, one_environment);
  for (const auto& part : equal)
    for (const double advantage : part) CHECK(std::abs(advantage) < 1e-10);
  whiten(one, one_environment);
  CHECK(one[0][0] == 0.7);
}

TEST_CASE("whitening is per environment, so that larger rewards do not dominate") {
  std::vector<std::vector<double>> mixed{{10, -20}, {0.1}, {30}, {-0.1, 0.2}}, large{{10, -20}, {30}},
      small{{0.1}, {-0.1, 0.2}};
  whiten(mixed, std::vector<int>{0, 1, 0, 1});
  whiten(large, std::vector<int>{0, 0});
  whiten(small, std::vector<int>{1, 1});
  CHECK(mixed == std::vector<std::vector<double>>{large[0], small[0], large[1], small[1]});
}

TEST_CASE(
    "the value loss takes the larger of the clipped and unclipped errors; the gradient is zero where the clipped error "
    "is larger") {
  SUBCASE("within the clip, the loss is half the squared error") {
    const auto outcome = value_outcome(1.3f, 1, 2, 0.5);
    CHECK(outcome.loss == doctest::Approx(0.25 * 0.7 * 0.7));
    CHECK(outcome.gradient == doctest::Approx(-0.35));
  }
  SUBCASE("a value that moved further toward the return than the clip allows has no gradient") {
    const auto outcome = value_outcome(1.9f, 1, 2, 0.5);
    CHECK(outcome.loss == doctest::Approx(0.25 * 0.5 * 0.5));
    CHECK(outcome.gradient == 0);
  }
  SUBCASE("a value that moved away from the return always has a gradient") {
    const auto outcome = value_outcome(-1, 1, 2, 0.5);
    CHECK(outcome.loss == doctest::Approx(0.25 * 9));
    CHECK(outcome.gradient == doctest::Approx(-1.5));
  }
  SUBCASE("0 disables clipping") { CHECK(value_outcome(1.9f, 1, 2, 0).gradient == doctest::Approx(-0.05)); }
}

TEST_CASE("the gradient of the value loss matches finite differences") {
  for (const float value : {-0.4f, 0.55f, 0.9f, 1.45f, 2.75f}) {
    const float step = 1.0f / 1024;
    const double slope =
        (value_outcome(value + step, 1, 2, 0.5).loss - value_outcome(value - step, 1, 2, 0.5).loss) / (2 * step);
    CHECK(value_outcome(value, 1, 2, 0.5).gradient == doctest::Approx(slope).epsilon(1e-3));
  }
}

TEST_CASE("explained variance") {
  const std::vector<double> returns{0, 1, 2, 5};
  CHECK(explained_variance(returns, returns) == 1);
  CHECK(*explained_variance(std::vector<double>(4, 2), returns) == doctest::Approx(0));
  CHECK(*explained_variance(std::vector<double>{0, -1, -2, -5}, returns) == doctest::Approx(-3));
  CHECK(*explained_variance(std::vector<double>{1, 2, 3, 6}, returns) ==
        doctest::Approx(1));  // a constant error has no variance
  CHECK_FALSE(explained_variance(returns, std::vector<double>(4, 0.1)));
}
