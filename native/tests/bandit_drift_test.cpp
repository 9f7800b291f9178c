#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "algorithm/advantage.h"
#include "algorithm/filter.h"

// What group-relative advantages expect of RAGEN's Bandit: the risky arm pays 1 in a quarter of the pulls, the safe one
// 0.1 always. docs/decisions/0012 tells the reasons.
using namespace starpo;

namespace {

constexpr int kMembers = 16;
constexpr double kPayoutChance = 0.25, kSafePayout = 0.1;

double binomial(int n, int k, double p) {
  return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0)) * std::pow(p, k) *
         std::pow(1 - p, n - k);
}

// A group whose first `risky` members took the risky arm, and whose first `paid` of those were paid.
std::vector<double> group(int risky, int paid) {
  std::vector<double> scores(kMembers, kSafePayout);
  for (int i = 0; i < risky; ++i) scores[i] = i < paid ? 1 : 0;
  return scores;
}

// Mean over the group of advantage * d log(probability of the choice) / d logit of the risky arm, which is 1 - p for
// the risky arm and -p for the safe one.
double step(const std::vector<double>& advantages, int risky, double p) {
  double sum = 0;
  for (int i = 0; i < kMembers; ++i) sum += advantages[i] * (i < risky ? 1 - p : -p);
  return sum / kMembers;
}

double shared_drift(double p, AdvantageEstimator estimator) {
  double drift = 0;
  for (int risky = 0; risky <= kMembers; ++risky) {
    const double chance = binomial(kMembers, risky, p);
    drift += chance * kPayoutChance * step(group_advantages(group(risky, risky), estimator), risky, p);
    drift += chance * (1 - kPayoutChance) * step(group_advantages(group(risky, 0), estimator), risky, p);
  }
  return drift;
}

double independent_drift(double p, AdvantageEstimator estimator) {
  double drift = 0;
  for (int risky = 0; risky <= kMembers; ++risky)
    for (int paid = 0; paid <= risky; ++paid)
      drift += binomial(kMembers, risky, p) * binomial(risky, paid, kPayoutChance) *
               step(group_advantages(group(risky, paid), estimator), risky, p);
  return drift;
}

// The same for 16 groups with shared payouts of which a filter keeps some, every group half risky: only the number of
// paid groups is left to chance.
double filtered_drift(double keep) {
  constexpr int groups = 16, risky = kMembers / 2;
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
    drift += binomial(groups, paid_groups, kPayoutChance) * sum / count;
  }
  return drift;
}

}  // namespace

TEST_CASE("with shared payouts, normalised advantages push away from Bandit's better arm, whatever the policy") {
  CHECK(shared_drift(0.5, AdvantageEstimator::grpo) == doctest::Approx(-0.238).epsilon(0.01));
  for (const double p : {0.1, 0.3, 0.7, 0.9, 0.98}) {
    CAPTURE(p);
    CHECK(shared_drift(p, AdvantageEstimator::grpo) < 0);
  }
}

TEST_CASE(
    "without the division advantages push towards it, and with payouts of their own where the policy pulls it often "
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
        0);  // few pulls: most groups see none paid, and the division makes their small loss as large as a win
}

TEST_CASE("the filter changes the sign by looking at paid groups first") {
  CHECK(filtered_drift(1) == doctest::Approx(-0.25).epsilon(0.05));
  CHECK(std::abs(filtered_drift(0.5)) < 0.05);
  CHECK(filtered_drift(0.25) > 0.2);
}
