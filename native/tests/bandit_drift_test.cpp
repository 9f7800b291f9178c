#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "algorithm/advantage.h"
#include "algorithm/filter.h"

// Expected group-relative advantages for RAGEN's Bandit: the risky arm pays 1 with probability 1/4, the safe arm always
// 0.1. docs/decisions/0012 explains why this matters.
using namespace starpo;

namespace {

constexpr int kGroupSize = 16;
constexpr double kPayProbability = 0.25, kSafePayout = 0.1;

double binomial(int n, int k, double p) {
  return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0)) * std::pow(p, k) *
         std::pow(1 - p, n - k);
}

// Returns the scores of a group in which `risky` episodes pulled the risky arm and `paid` of them were paid.
std::vector<double> group(int risky, int paid) {
  std::vector<double> scores(kGroupSize, kSafePayout);
  for (int i = 0; i < risky; ++i) scores[i] = i < paid ? 1 : 0;
  return scores;
}

// Returns the group mean of advantage * d log(probability of the choice) / d logit of the risky arm. The derivative is
// 1 - p for the risky arm and -p for the safe one.
double step(const std::vector<double>& advantages, int risky, double p) {
  double sum = 0;
  for (int i = 0; i < kGroupSize; ++i) sum += advantages[i] * (i < risky ? 1 - p : -p);
  return sum / kGroupSize;
}

double shared_drift(double p, AdvantageEstimator estimator) {
  double drift = 0;
  for (int risky = 0; risky <= kGroupSize; ++risky) {
    const double chance = binomial(kGroupSize, risky, p);
    drift += chance * kPayProbability * step(group_advantages(group(risky, risky), estimator), risky, p);
    drift += chance * (1 - kPayProbability) * step(group_advantages(group(risky, 0), estimator), risky, p);
  }
  return drift;
}

double independent_drift(double p, AdvantageEstimator estimator) {
  double drift = 0;
  for (int risky = 0; risky <= kGroupSize; ++risky)
    for (int paid = 0; paid <= risky; ++paid)
      drift += binomial(kGroupSize, risky, p) * binomial(risky, paid, kPayProbability) *
               step(group_advantages(group(risky, paid), estimator), risky, p);
  return drift;
}

// Returns the same for 16 groups with shared payouts and a filter. Half of every group is risky, so only the number of
// paid groups is random.
double filtered_drift(double keep) {
  constexpr int groups = 16, risky = kGroupSize / 2;
  double drift = 0;
  for (int paid_groups = 0; paid_groups <= groups; ++paid_groups) {
    std::vector<ScoredGroup> scored;
    for (int g = 0; g < groups; ++g) scored.push_back({0, group(risky, g < paid_groups ? risky : 0)});
    const auto kept = filter_groups(scored, {FilterStrategy::fraction, keep}).kept;
    double sum = 0, count = 0;
    for (int g = 0; g < groups; ++g) {
      if (!kept[g]) continue;
      sum += step(group_advantages(scored[g].scores, AdvantageEstimator::grpo), risky, 0.5);
      ++count;
    }
    drift += binomial(groups, paid_groups, kPayProbability) * sum / count;
  }
  return drift;
}

}  // namespace

TEST_CASE("with shared payouts, normalized advantages favor Bandit's worse arm for any policy") {
  CHECK(shared_drift(0.5, AdvantageEstimator::grpo) == doctest::Approx(-0.238).epsilon(0.01));
  for (const double p : {0.1, 0.3, 0.7, 0.9, 0.98}) {
    CAPTURE(p);
    CHECK(shared_drift(p, AdvantageEstimator::grpo) < 0);
  }
}

TEST_CASE(
    "without normalization, advantages favor the better arm; with separate payouts, only if the policy pulls it often "
    "enough") {
  for (const double p : {0.1, 0.3, 0.5, 0.7, 0.9}) {
    CAPTURE(p);
    CHECK(shared_drift(p, AdvantageEstimator::dr_grpo) > 0);
    CHECK(independent_drift(p, AdvantageEstimator::dr_grpo) > 0);
  }
  for (const double p : {0.35, 0.5, 0.7, 0.9}) {
    CAPTURE(p);
    CHECK(independent_drift(p, AdvantageEstimator::grpo) > 0);
  }
  CHECK(independent_drift(0.1, AdvantageEstimator::grpo) <
        0);  // with few pulls most groups are unpaid, and normalization makes their small loss as large as a win
}

TEST_CASE("the filter changes the sign, because it prefers groups with a paid pull") {
  CHECK(filtered_drift(1) == doctest::Approx(-0.25).epsilon(0.05));
  CHECK(std::abs(filtered_drift(0.5)) < 0.05);
  CHECK(filtered_drift(0.25) > 0.2);
}
