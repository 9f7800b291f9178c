#include <doctest/doctest.h>

#include <cmath>

#include "journal/metric_names.h"
#include "train/metrics/rollout_metrics.h"

using namespace starpo;

namespace {

// A bandit's episode in which `arm` was pulled, or no reply could be read.
Episode pull(int group, const std::string& arm, double score) {
  Episode episode;
  episode.spec = {0, group, 0, 0, std::nullopt};
  episode.arms = {"Phoenix", "Dragon"};
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

TEST_CASE("the spread of a bandit's scores is luck where all pull one arm, and the choice's where they differ") {
  const std::vector<Episode> one_arm{pull(0, "Dragon", 1), pull(0, "Dragon", 0), pull(1, "Dragon", 0),
                                     pull(1, "dragon", 1)};
  CHECK(metric_of(one_arm, metric::rollout_reward_std_in_group) == doctest::Approx(std::sqrt(0.5)));
  CHECK(metric_of(one_arm, metric::rollout_reward_std_by_action) == 0);

  // Dragon pays 0.5 on average, Phoenix 0.1, and an unreadable reply costs 0.1.
  const std::vector<Episode> both{pull(0, "Dragon", 1), pull(0, "Phoenix", 0.1), pull(1, "Dragon", 0),
                                  pull(1, "", -0.1)};
  CHECK(metric_of(both, metric::rollout_reward_std_by_action) == doctest::Approx((0.4 + 0.6) / 2 / std::sqrt(2)));
}

TEST_CASE("without arms, or in groups of one, there is no spread by choice") {
  Episode walk = pull(0, "Left", 1);
  walk.arms.clear();
  CHECK_FALSE(rollout_metrics(std::vector<Episode>{walk, walk}, false)
                  .contains(std::string(metric::rollout_reward_std_by_action)));
  CHECK_FALSE(rollout_metrics(std::vector<Episode>{pull(0, "Dragon", 1), pull(1, "Dragon", 0)}, false)
                  .contains(std::string(metric::rollout_reward_std_by_action)));
}
