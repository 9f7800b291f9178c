#include <doctest/doctest.h>

#include <cmath>

#include "journal/metric_names.h"
#include "train/metrics/rollout_metrics.h"

using namespace starpo;

namespace {

// Returns a bandit episode in which `arm` was pulled, or none if the response was invalid.
Episode pull(int group, const std::string& arm, double score) {
  Episode episode;
  episode.spec = {0, group, 0, 0, std::nullopt};
  episode.action_names = {"Phoenix", "Dragon"};
  episode.single_step = true;
  Turn& turn = episode.turns.emplace_back();
  if (!arm.empty())
    turn.executed.push_back({.action = arm,
                             .reward = score,
                             .board = "",
                             .effective = true,
                             .valid = true,
                             .done = true,
                             .success = arm == "Dragon"});
  episode.score = score;
  return episode;
}

double metric_of(const std::vector<Episode>& episodes, std::string_view name) {
  return rollout_metrics(episodes, false).at(std::string(name));
}

}  // namespace

TEST_CASE("reward std by action ignores payout noise when all pull one arm and measures the choice otherwise") {
  const std::vector<Episode> one_arm{pull(0, "Dragon", 1), pull(0, "Dragon", 0), pull(1, "Dragon", 0),
                                     pull(1, "dragon", 1)};
  CHECK(metric_of(one_arm, metric::kRolloutRewardStdInGroup) == doctest::Approx(std::sqrt(0.5)));
  CHECK(metric_of(one_arm, metric::kRolloutRewardStdByAction) == 0);

  // Dragon pays 0.5 on average, Phoenix 0.1, and an invalid response costs 0.1.
  const std::vector<Episode> both{pull(0, "Dragon", 1), pull(0, "Phoenix", 0.1), pull(1, "Dragon", 0),
                                  pull(1, "", -0.1)};
  CHECK(metric_of(both, metric::kRolloutRewardStdByAction) == doctest::Approx((0.4 + 0.6) / 2 / std::sqrt(2)));
}

TEST_CASE("reward std by action is undefined without arms and for groups of one") {
  Episode multi_step = pull(0, "Left", 1);
  multi_step.single_step = false;
  CHECK_FALSE(rollout_metrics(std::vector<Episode>{multi_step, multi_step}, false)
                  .contains(std::string(metric::kRolloutRewardStdByAction)));
  CHECK_FALSE(rollout_metrics(std::vector<Episode>{pull(0, "Dragon", 1), pull(1, "Dragon", 0)}, false)
                  .contains(std::string(metric::kRolloutRewardStdByAction)));
}

TEST_CASE("metrics per environment include all rounds of a rollout") {
  RunConfig config;
  config.environments = {EnvironmentConfig{.label = "bandit"}, EnvironmentConfig{.label = "lake"}};
  std::vector<Episode> episodes;
  for (const double reward : {1.0, 3.0})  // two rounds
    for (const int environment : {0, 1}) {
      Episode& episode = episodes.emplace_back(pull(static_cast<int>(episodes.size()), "Dragon", reward));
      episode.spec.environment = environment;
      if (environment == 1) episode.score *= 10;
    }
  const Metrics metrics = rollout_metrics_by_environment(episodes, config);
  CHECK(metrics.at("rollout/bandit/reward_mean") == 2);
  CHECK(metrics.at("rollout/lake/reward_mean") == 20);
}
