#include <doctest/doctest.h>

#include <cmath>

#include "env/bandit/bandit.h"
#include "env/frozen_lake/frozen_lake.h"
#include "env/level_ease.h"
#include "sokoban_fixtures.h"
#include "train/context/levels.h"

using namespace starpo;

namespace {

// The share of all sequences of so many actions that succeed, played one by one.
double share_of_sequences(const Environment& start, int actions) {
  const auto names = start.actions();
  const int count = static_cast<int>(std::lround(std::pow(names.size(), actions)));
  int successes = 0;
  for (int sequence = 0; sequence < count; ++sequence) {
    const auto player = start.clone();
    bool done = false;
    for (int i = 0, rest = sequence; i < actions && !done; ++i, rest /= static_cast<int>(names.size()))
      done = player->step(names[rest % names.size()]).done;
    successes += player->success();
  }
  return static_cast<double>(successes) / count;
}

FrozenLakeConfig lake(bool is_slippery) {
  return {.size = 4,
          .p = 0.8,
          .is_slippery = is_slippery,
          .success_rate = 0.8,
          .observation_format = LakeObservation::coord};
}

}  // namespace

TEST_CASE("a level's ease is the chance of all ways to act at random") {
  FrozenLake frozen(lake(false));
  Sokoban sokoban(simple_sokoban());
  for (Environment* environment : std::initializer_list<Environment*>{&frozen, &sokoban}) {
    int easier_than_least = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      environment->reset(seed, nullptr);
      const double share = share_of_sequences(*environment, 5);
      easier_than_least += share > least_chance;
      CHECK(*level_ease(*environment, 5) == doctest::Approx(std::log(std::max(share, least_chance))));
    }
    CHECK(easier_than_least >= 4);
  }
}

TEST_CASE("an environment that leaves something to chance has no ease, nor has a level without end") {
  FrozenLake slippery(lake(true));
  slippery.reset(1, nullptr);
  CHECK_FALSE(level_ease(slippery, 10));
  const auto bandit = make_environment(
      "bandit",
      R"({"lo_arm_name": "phoenix", "hi_arm_name": "dragon", "lo_arm_score": 0.1, "hi_arm_loscore": 0.0, "hi_arm_hiscore": 1.0, "hi_arm_hiscore_prob": 0.25})");
  bandit->reset(1, nullptr);
  CHECK_FALSE(level_ease(*bandit, 1));
  auto large = simple_sokoban();
  large.dim_x = large.dim_y = 10;
  large.num_boxes = 3;
  Sokoban sokoban(large);
  sokoban.reset(5, nullptr);
  CHECK_FALSE(level_ease(sokoban, 100));
}
