#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "env/frozen_lake/frozen_lake.h"

// Computes the exact success rates on slippery ice of a policy that can't know the slips and of a policy that can
// predict them.
using namespace starpo;

namespace {

constexpr FrozenLakeConfig kSlippery{
    .size = 4, .p = 0.8, .is_slippery = true, .success_rate = 1.0 / 3, .observation_format = LakeObservation::grid};
constexpr int kLevels = 256, kFirstLevel = 123, kActions = 10;

FrozenLakeLevel level_of(int i) { return generate_frozen_lake(kSlippery.size, kSlippery.p, kFirstLevel + i); }

Outcomes outcomes_of(const FrozenLakeLevel& level, int cell, int direction) {
  return frozen_lake_outcomes(level, cell, static_cast<Direction>(direction), true, kSlippery.success_rate);
}

// Returns the best success probability within ten actions, by value iteration.
double best_without_knowledge(const FrozenLakeLevel& level) {
  std::vector<double> value(level.holes.size(), 0.0);
  value[level.goal] = 1;
  for (int left = 0; left < kActions; ++left) {
    auto next = value;
    for (int cell = 0; cell < static_cast<int>(value.size()); ++cell) {
      if (ends_episode(level, cell)) continue;
      for (int direction = 0; direction < 4; ++direction) {
        const auto outcomes = outcomes_of(level, cell, direction);
        double expected = 0;
        for (const auto& outcome : outcomes.items) expected += outcome.probability * value[outcome.cell];
        next[cell] = std::max(next[cell], expected);
      }
    }
    value = next;
  }
  return value[level.start];
}

// Returns whether any ten actions reach the goal, given the draws of the slips (one per action).
bool reachable(const FrozenLakeLevel& level, const std::array<double, kActions>& draws) {
  std::vector<bool> reached_cells(level.holes.size(), false);
  reached_cells[level.start] = true;
  for (const double draw : draws) {
    std::vector<bool> next(reached_cells.size(), false);
    for (int cell = 0; cell < static_cast<int>(reached_cells.size()); ++cell) {
      if (!reached_cells[cell] || ends_episode(level, cell)) {
        next[cell] = next[cell] || (reached_cells[cell] && cell == level.goal);
        continue;
      }
      for (int direction = 0; direction < 4; ++direction) {
        const auto outcomes = outcomes_of(level, cell, direction);
        next[outcomes.items[sample_outcome(outcomes, draw)].cell] = true;
      }
    }
    reached_cells = next;
  }
  return reached_cells[level.goal];
}

}  // namespace

TEST_CASE("a policy that can't know the slips reaches at most 48 % on Gymnasium's slippery ice") {
  double sum = 0;
  for (int i = 0; i < kLevels; ++i) sum += best_without_knowledge(level_of(i));
  CHECK(sum / kLevels == doctest::Approx(0.48).epsilon(0.02));
}

TEST_CASE("the reference's slips are a function of the level, and knowing them solves almost every level") {
  int reached = 0;
  for (int i = 0; i < kLevels; ++i) {
    NumpyRandom random(kFirstLevel + i);
    random.random();  // the start cell
    std::array<double, kActions> draws;
    for (double& draw : draws) draw = random.random();
    reached += reachable(level_of(i), draws);

    FrozenLake lake(kSlippery);
    lake.reset(kFirstLevel + i, nullptr);
    for (int action = 0; action < kActions && !ends_episode(lake.level(), lake.player()); ++action) {
      const auto outcomes = outcomes_of(lake.level(), lake.player(), 0);
      const int expected = outcomes.items[sample_outcome(outcomes, draws[action])].cell;
      lake.step("Left");
      CHECK(lake.player() == expected);
    }
  }
  CHECK(reached > 0.9 * kLevels);
}

TEST_CASE("separate noise slips with the configured probability") {
  int slipped = 0, moves = 0;
  for (int i = 0; i < 2000; ++i) {
    FrozenLake lake(kSlippery);
    const NoiseStream noise({1, RandomStream::environment_noise}, {static_cast<std::uint32_t>(i), 0, 0});
    lake.reset(kFirstLevel, &noise);
    slipped += lake.step("Left").flag("slipped");
    ++moves;
  }
  CHECK(slipped > 0.6 * moves);
  CHECK(slipped < 0.73 * moves);
}
