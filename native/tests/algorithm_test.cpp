#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "algorithm/advantage.h"
#include "algorithm/filter.h"
#include "algorithm/objectives.h"
#include "algorithm/statistics.h"
#include "base/philox.h"

using namespace starpo;

TEST_CASE("Philox matches the known-answer test of its authors") {
  const std::array<std::uint32_t, 4> zero = Philox{0, RandomStream{0}}(0, 0, 0, 0);
  CHECK(zero == std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const std::array<std::uint32_t, 4> ones =
      Philox{0xffffffff, RandomStream{0xffffffff}}(0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff);
  CHECK(ones == std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
}

TEST_CASE("standard deviation divides by n - 1 and is exactly zero for equal scores") {
  const std::vector<double> values{1, 2, 3, 4}, equal(16, 0.1);
  CHECK(standard_deviation(values) == doctest::Approx(1.2909944487358056));
  CHECK(standard_deviation(equal) == 0);
}

TEST_CASE("the Wilson interval for 8 of 10 matches its published bounds") {
  const Interval interval = wilson_interval(8, 10);
  CHECK(interval.low == doctest::Approx(0.4901625).epsilon(1e-6));
  CHECK(interval.high == doctest::Approx(0.9433178).epsilon(1e-6));
}

namespace {

using Scores = std::vector<double>;

std::vector<ScoredGroup> groups_in(int environment, const std::vector<Scores>& groups) {
  std::vector<ScoredGroup> result;
  for (const auto& scores : groups) result.push_back({environment, scores});
  return result;
}

std::vector<bool> kept(const std::vector<Scores>& groups, FilterStrategy strategy, double keep) {
  return filter_groups(groups_in(0, groups), {strategy, keep}).kept;
}

// Ten Sokoban steps at -0.1 each, divided into turns in different ways. Each turn is summed before it is added to the
// score, so equal scores differ in their last bits.
Scores ten_failed_steps() {
  Scores scores;
  for (const std::vector<int>& turns :
       std::vector<std::vector<int>>{{5, 5}, {1, 2, 3, 3, 1}, {1, 1, 5, 2, 1}, {2, 2, 2, 2, 2}, {1, 4, 2, 2, 1}}) {
    double score = 0;
    for (const int steps : turns) {
      double reward = 0;
      for (int i = 0; i < steps; ++i) reward += -0.1;
      score += reward;
    }
    scores.push_back(score);
  }
  return scores;
}

}  // namespace

TEST_CASE("scores that differ only by the order of additions are equal") {
  const Scores failed = ten_failed_steps();
  REQUIRE(standard_deviation(failed) > 0);
  CHECK(reward_std(failed) == 0);
  for (const auto estimator : {AdvantageEstimator::grpo, AdvantageEstimator::dr_grpo, AdvantageEstimator::rloo})
    for (const double advantage : group_advantages(failed, estimator)) CHECK(advantage == 0);

  const auto none = filter_groups(groups_in(0, {failed, failed}), {FilterStrategy::top_p, 0.9});
  CHECK(none.kept == std::vector<bool>{false, false});
  CHECK(none.warnings.size() == 1);
  CHECK(kept({failed, {-1, -1, -1, -1, -1.1}}, FilterStrategy::top_p, 0.9) == std::vector<bool>{false, true});

  // The box reached the target after ten steps, so the score is 0 up to rounding.
  Scores around_zero;
  for (const double score : failed) around_zero.push_back(score + 1);
  CHECK(reward_std(around_zero) == 0);
  CHECK(reward_std(Scores{0, 1e-6}) > 0);
  CHECK(reward_std(Scores{1e9, 1e9 + 1e-6}) == 0);
  CHECK(reward_std(Scores{1e9, 1e9 + 10}) > 0);
}

TEST_CASE("the filter keeps the groups with the highest reward std") {
  // Reward stds: 0, 1/sqrt 2, 0, sqrt 2.
  const std::vector<Scores> scores{{1, 1}, {0, 1}, {0, 0}, {0, 2}};

  SUBCASE("fraction keeps groups by rank") {
    const auto half = filter_groups(groups_in(0, scores), {FilterStrategy::fraction, 0.5});
    CHECK(half.kept == std::vector<bool>{false, true, false, true});
    CHECK(half.warnings.empty());
    CHECK(kept(scores, FilterStrategy::fraction, 0.25) == std::vector<bool>{false, false, false, true});
    CHECK(kept(scores, FilterStrategy::fraction, 0.01) == std::vector<bool>{false, false, false, true});
  }
  SUBCASE("fraction fills its quota with the earliest groups of zero reward std and warns") {
    const auto result = filter_groups(groups_in(0, scores), {FilterStrategy::fraction, 0.75});
    CHECK(result.kept == std::vector<bool>{true, true, false, true});
    CHECK(result.warnings.size() == 1);
  }
  SUBCASE("a fraction of 0.29 keeps 29 of 100 groups despite rounding") {
    const std::vector<Scores> hundred(100, {0, 1});
    const auto result = kept(hundred, FilterStrategy::fraction, 0.29);
    CHECK(std::ranges::count(result, true) == 29);
  }
  SUBCASE("top-p keeps groups by summed reward std and none with zero reward std") {
    CHECK(kept(scores, FilterStrategy::top_p, 0.5) == std::vector<bool>{false, false, false, true});
    CHECK(kept(scores, FilterStrategy::top_p, 1) == std::vector<bool>{false, true, false, true});
    CHECK(kept(scores, FilterStrategy::top_p, 0) == std::vector<bool>{false, false, false, true});
    const std::vector<Scores> equal(5, {0, 0.1});
    CHECK(kept(equal, FilterStrategy::top_p, 0.6) == std::vector<bool>{true, true, true, false, false});
    CHECK(kept(equal, FilterStrategy::top_p, 0.601) == std::vector<bool>{true, true, true, true, false});
    CHECK(kept(equal, FilterStrategy::top_p, 1) == std::vector<bool>(5, true));
    const auto none = filter_groups(groups_in(0, {{1, 1}, {0, 0}}), {FilterStrategy::top_p, 0.9});
    CHECK(none.kept == std::vector<bool>{false, false});
    CHECK(none.warnings.size() == 1);
  }
  SUBCASE("groups of one episode are all kept, with a warning") {
    const auto result = filter_groups(groups_in(0, std::vector<Scores>(8, {1})), {FilterStrategy::fraction, 0.25});
    CHECK(result.kept == std::vector<bool>(8, true));
    CHECK(result.warnings.size() == 1);
  }
  SUBCASE("groups with equal reward std keep their order") {
    CHECK(kept({{0, 1}, {0, 1}, {1, 0}}, FilterStrategy::fraction, 0.34) == std::vector<bool>{true, false, false});
  }
}

TEST_CASE("groups of extra rounds replace those without reward std, in the share of each environment") {
  const Scores varied{0, 1}, equal{1, 1};
  // Two rounds of two groups of environment 0 and one of environment 1.
  std::vector<ScoredGroup> groups{{0, equal}, {0, varied}, {1, equal}, {0, varied}, {0, varied}, {1, equal}};
  const int per_round[] = {2, 1};
  const auto chosen = [&](std::size_t played, const FilterConfig& filter) {
    return choose_from_rounds(std::span(groups).first(played), per_round, filter);
  };
  CHECK_FALSE(chosen(3, {}).complete);
  // The first two that vary, and the first of environment 1, which lacks a group that varies.
  CHECK(chosen(6, {}).chosen == std::vector<bool>{false, true, true, true, false, false});
  CHECK_FALSE(chosen(6, {}).complete);
  groups[5].scores = varied;
  CHECK(chosen(6, {}).chosen == std::vector<bool>{false, true, false, true, false, true});
  CHECK(chosen(6, {}).complete);
  // A filter that keeps one group per environment by reward std needs no more of them, but another ranking may.
  groups[2].scores = varied;
  CHECK_FALSE(chosen(3, {}).complete);
  CHECK(chosen(3, {FilterStrategy::fraction, 0.5}).complete);
  CHECK_FALSE(chosen(3, {FilterStrategy::fraction, 0.5, 1, FilterScore::length}).complete);
  CHECK(chosen(3, {}).chosen == std::vector<bool>(3, true));
  // Valid episodes of failed environments can leave groups of one.
  groups[1].scores = {1};
  CHECK_FALSE(chosen(3, {FilterStrategy::fraction, 0.5}).complete);
}

TEST_CASE("groups are filtered per environment, regardless of reward scale") {
  auto groups = groups_in(0, {{0, 11}, {0, 10}, {0, 0}, {0, 9}});
  for (const auto& group : groups_in(1, {{0.1, 0.1}, {0, 0.1}})) groups.push_back(group);
  CHECK(filter_groups(groups, {FilterStrategy::fraction, 0.5}).kept ==
        std::vector<bool>{true, true, false, false, false, true});
  CHECK(filter_groups(groups, {FilterStrategy::top_p, 0.9}).kept ==
        std::vector<bool>{true, true, false, true, false, true});
  groups[5].scores = {0.1, 0.1};
  const auto result = filter_groups(groups, {FilterStrategy::top_p, 0.9});
  REQUIRE(result.warnings.size() == 1);
  CHECK(result.warnings[0].environment == 1);
}

TEST_CASE("group-relative advantages match hand-computed examples") {
  const Scores scores{0, 0, 0, 1}, equal{0.5, 0.5, 0.5, 0.5};
  const auto grpo = group_advantages(scores, AdvantageEstimator::grpo);
  CHECK(grpo[0] == doctest::Approx(-0.25 / (0.5 + 1e-6)));
  CHECK(grpo[3] == doctest::Approx(0.75 / (0.5 + 1e-6)));
  CHECK(group_advantages(equal, AdvantageEstimator::grpo) == Scores{0, 0, 0, 0});
  const auto dr_grpo = group_advantages(scores, AdvantageEstimator::dr_grpo);
  CHECK(dr_grpo[3] == doctest::Approx(0.75));
  const auto rloo = group_advantages(scores, AdvantageEstimator::rloo);
  CHECK(rloo[3] == doctest::Approx(1));         // the others have 0
  CHECK(rloo[0] == doctest::Approx(-1.0 / 3));  // the others have (0 + 0 + 1) / 3
}

TEST_CASE("token weights match every loss average") {
  const std::vector<int> lengths{2, 6};
  CHECK(token_weights(lengths, LossAverage::trajectory, 10) == std::vector<double>{0.25, 1.0 / 12});
  CHECK(token_weights(lengths, LossAverage::token, 10) == std::vector<double>{0.125, 0.125});
  CHECK(token_weights(lengths, LossAverage::trajectory_sum, 10) == std::vector<double>{0.5, 0.5});
  CHECK(token_weights(lengths, LossAverage::fixed_length, 10) == std::vector<double>{0.05, 0.05});
  // A trajectory of two samples counts once, and one without tokens not at all.
  const std::vector<int> samples{2, 6, 2, 0}, trajectories{0, 0, 1, 2};
  CHECK(token_weights(samples, trajectories, LossAverage::trajectory, 10) ==
        std::vector<double>{1.0 / 16, 1.0 / 16, 0.25, 0});
  CHECK(token_weights(samples, trajectories, LossAverage::trajectory_sum, 10) == std::vector<double>{0.5, 0.5, 0.5, 0});
}

namespace {

struct Outcome {
  PolicyLossSums sums;
  std::vector<float> logprob_gradients, entropy_gradients;
};

Outcome loss_of(float logprob, float rollout_logprob, double advantage, const PolicyLossConfig& settings,
                float entropy = 0.7f) {
  Outcome outcome{{}, std::vector<float>(1), std::vector<float>(1)};
  policy_loss(std::vector<float>{logprob}, std::vector<float>{entropy}, std::vector<float>{rollout_logprob},
              std::vector<double>{advantage}, 0.5, settings, outcome.sums, outcome.logprob_gradients,
              outcome.entropy_gradients);
  return outcome;
}

}  // namespace

TEST_CASE("the clipped objective: value, gradient and clipping") {
  PolicyLossConfig settings;
  settings.clip_low = 0.2;
  settings.clip_high = 0.28;
  const float old = -1;
  const auto at_ratio = [&](double ratio) { return static_cast<float>(old + std::log(ratio)); };

  SUBCASE("on-policy, the gradient is -advantage * weight") {
    const auto outcome = loss_of(old, old, 2, settings);
    CHECK(outcome.sums.loss == doctest::Approx(-1));
    CHECK(outcome.logprob_gradients[0] == doctest::Approx(-1));
  }
  SUBCASE("the ratio is clipped above 1 + clip_high for good actions and below 1 - clip_low for bad ones") {
    const auto good = loss_of(at_ratio(1.5), old, 1, settings);
    CHECK(good.logprob_gradients[0] == 0);
    CHECK(good.sums.loss == doctest::Approx(-0.5 * 1.28));
    CHECK(good.sums.clipped_high == 1);
    const auto bad = loss_of(at_ratio(0.5), old, -1, settings);
    CHECK(bad.logprob_gradients[0] == 0);
    CHECK(bad.sums.loss == doctest::Approx(0.5 * 0.8));
    CHECK(bad.sums.clipped_low == 1);
  }
  SUBCASE("nothing is clipped in the opposite direction") {
    CHECK(loss_of(at_ratio(1.5), old, -1, settings).logprob_gradients[0] == doctest::Approx(0.75));
    CHECK(loss_of(at_ratio(0.5), old, 1, settings).logprob_gradients[0] == doctest::Approx(-0.25));
  }
  SUBCASE("dual clip bounds the loss at negative advantage and large ratio") {
    settings.dual_clip = 3;
    const auto outcome = loss_of(at_ratio(5), old, -1, settings);
    CHECK(outcome.sums.loss == doctest::Approx(0.5 * 3));
    CHECK(outcome.logprob_gradients[0] == 0);
  }
  SUBCASE("the entropy bonus") {
    settings.entropy_coefficient = 0.1;
    const auto outcome = loss_of(old, old, 0, settings);
    CHECK(outcome.sums.loss == doctest::Approx(-0.5 * 0.1 * 0.7));
    CHECK(outcome.entropy_gradients[0] == doctest::Approx(-0.05));
  }
}

TEST_CASE("the gradient of the policy loss matches finite differences away from the kinks") {
  PolicyLossConfig settings;
  settings.clip_low = 0.2;
  settings.clip_high = 0.28;
  settings.dual_clip = 3;
  for (double advantage : {-1.3, 0.8}) {
    for (float logprob : {-3.2f, -1.1f, -1.0f, -0.9f, -0.05f}) {
      const float step = 1.0f / 1024;
      const double high = loss_of(logprob + step, -1, advantage, settings).sums.loss,
                   low = loss_of(logprob - step, -1, advantage, settings).sums.loss;
      CHECK(loss_of(logprob, -1, advantage, settings).logprob_gradients[0] ==
            doctest::Approx((high - low) / (2 * step)).epsilon(1e-3));
    }
  }
}
