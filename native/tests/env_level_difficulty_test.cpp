#include <doctest/doctest.h>

#include <cmath>

#include "env/bandit/bandit.h"
#include "env/frozen_lake/frozen_lake.h"
#include "env/level_difficulty.h"
#include "sokoban_fixtures.h"
#include "train/context/levels.h"

using namespace starpo;

namespace {

// Returns the share of all action sequences of this length that succeed, by enumeration.
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

TEST_CASE("level difficulty is the success probability over all action sequences") {
  FrozenLake frozen(lake(false));
  Sokoban sokoban(simple_sokoban());
  for (Environment* environment : std::initializer_list<Environment*>{&frozen, &sokoban}) {
    int easier_than_least = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      environment->reset(seed, nullptr);
      const double share = share_of_sequences(*environment, 5);
      easier_than_least += share > kMinSuccessProbability;
      CHECK(*log_random_success(*environment, 5) == doctest::Approx(std::log(std::max(share, kMinSuccessProbability))));
    }
    CHECK(easier_than_least >= 4);
  }
}

TEST_CASE("level difficulty is undefined for stochastic environments and for levels with too many states") {
  FrozenLake slippery(lake(true));
  slippery.reset(1, nullptr);
  CHECK_FALSE(log_random_success(slippery, 10));
  const auto bandit = make_environment(
      "bandit",
      R"({"lo_arm_name": "phoenix", "hi_arm_name": "dragon", "lo_arm_score": 0.1, "hi_arm_loscore": 0.0, "hi_arm_hiscore": 1.0, "hi_arm_hiscore_prob": 0.25})");
  bandit->reset(1, nullptr);
  CHECK_FALSE(log_random_success(*bandit, 1));
  auto large = simple_sokoban();
  large.dim_x = large.dim_y = 10;
  large.num_boxes = 3;
  Sokoban sokoban(large);
  sokoban.reset(5, nullptr);
  CHECK_FALSE(log_random_success(sokoban, 100));
}
