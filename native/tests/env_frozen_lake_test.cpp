#include <doctest/doctest.h>

#include <memory>

#include "base/error.h"
#include "env/frozen_lake/frozen_lake.h"
#include "vectors.h"

using namespace starpo;
using nlohmann::json;

namespace {

constexpr FrozenLakeConfig kPlain{
    .size = 4, .p = 0.8, .is_slippery = false, .success_rate = 0.8, .observation_format = LakeObservation::grid};

// Builds a level from a Gymnasium map of S, F, H and G.
FrozenLakeLevel level_of(const json& rows) {
  FrozenLakeLevel level{.size = static_cast<int>(rows.size()), .holes = {}, .start = 0, .goal = 0};
  for (const std::string row : rows)
    for (const char c : row) {
      const int cell = static_cast<int>(level.holes.size());
      level.holes.push_back(c == 'H');
      if (c == 'S') level.start = cell;
      if (c == 'G') level.goal = cell;
    }
  return level;
}

void check_same_level(const FrozenLakeLevel& found, const FrozenLakeLevel& expected) {
  CHECK(found.holes == expected.holes);
  CHECK(found.start == expected.start);
  CHECK(found.goal == expected.goal);
}

FrozenLakeConfig config_of(const json& vector, const FrozenLakeConfig& defaults) {
  FrozenLakeConfig config = defaults;
  config.p = vector.value("p", config.p);
  config.success_rate = vector.value("success_rate", config.success_rate);
  config.is_slippery = vector.value("is_slippery", config.is_slippery);
  if (vector.value("observation_format", "grid") == "grid_coord")
    config.observation_format = LakeObservation::grid_coord;
  return config;
}

void check_rollout(const json& vector, const FrozenLakeConfig& config) {
  CAPTURE(vector.at("seed"));
  FrozenLake lake(config);
  lake.reset(vector.at("seed").get<std::uint64_t>(), 0);
  check_same_level(lake.level(), level_of(vector.at("desc")));
  CHECK(lake.observation() == vector.at("obs0").get<std::string>());
  const auto names = lake.actions();
  for (const auto& step : vector.at("steps")) {
    const auto result = lake.step(names[step.at("a").get<int>() - 1]);
    CHECK(lake.player() == step.at("state").get<int>());
    CHECK(result.reward == step.at("reward").get<double>());
    CHECK(result.reward_is_integer);
    CHECK(result.done == step.at("done").get<bool>());
    CHECK(result.effective == step.at("effective").get<bool>());
    CHECK(result.success == step.at("success").get<bool>());
    CHECK(result.valid);
    if (step.contains("obs")) CHECK(lake.observation() == step.at("obs").get<std::string>());
  }
  if (vector.contains("final_obs")) CHECK(lake.observation() == vector.at("final_obs").get<std::string>());
}

// Returns moves and slips of twenty steps, to compare random streams.
std::string slips(FrozenLake& lake) {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    const auto result = lake.step(i % 2 ? "Left" : "Right");
    text += result.flag("slipped") ? 's' : '-';
    if (result.done) break;
  }
  return text;
}

}  // namespace

TEST_CASE("Gymnasium's maps follow from the same draws") {
  for (const auto& vector : read_vectors("frozenlake.json", "gym_maps")) {
    CAPTURE(vector.at("seed"));
    NumpyRandom random(vector.at("seed").get<std::uint64_t>());
    FrozenLakeLevel level{.size = vector.at("size"), .holes = {}, .start = 0, .goal = 0};
    level.goal = level.size * level.size - 1;
    do {
      level.holes = draw_holes(level.size, vector.at("p"), random);
      level.holes[level.start] = level.holes[level.goal] = 0;
    } while (!goal_is_reachable(level));
    check_same_level(level, level_of(vector.at("map")));
  }
}

TEST_CASE("transition tables equal Gymnasium's") {
  for (const auto& vector : read_vectors("frozenlake.json", "transition_tables")) {
    const auto level = level_of(vector.at("map"));
    const auto& schedule = vector.at("reward_schedule");
    for (int cell = 0; cell < level.size * level.size; ++cell)
      for (int action = 0; action < 4; ++action) {
        const auto outcomes = frozen_lake_outcomes(level, cell, static_cast<Direction>(action),
                                                   vector.at("is_slippery"), vector.at("success_rate"));
        json found = json::array();
        for (int i = 0; i < outcomes.count; ++i) {
          const int next = outcomes.items[i].cell;
          const json reward = ends_episode(level, cell) ? json(0)
                                                        : schedule[next == level.goal  ? 0
                                                                   : level.holes[next] ? 1
                                                                                       : 2];
          found.push_back({outcomes.items[i].probability, next, reward, ends_episode(level, next)});
        }
        CHECK(found == vector.at("P")[cell][action]);
      }
  }
}

TEST_CASE("Gymnasium's rollouts follow from the same draws") {
  for (const auto& vector : read_vectors("frozenlake.json", "gym_rollouts")) {
    CAPTURE(vector.at("seed"));
    const auto level = level_of(vector.at("map_case").at("map"));
    NumpyRandom random(vector.at("seed").get<std::uint64_t>());
    random.random();  // the start cell
    const auto& states = vector.at("states");
    int cell = states[0];
    CHECK(cell == level.start);
    for (std::size_t i = 0; i < vector.at("actions").size(); ++i) {
      const auto outcomes =
          frozen_lake_outcomes(level, cell, static_cast<Direction>(vector.at("actions")[i].get<int>()),
                               vector.at("is_slippery"), vector.at("success_rate"));
      cell = outcomes.items[sample_outcome(outcomes, random.random())].cell;
      CHECK(cell == states[i + 1].get<int>());
      CHECK((cell == level.goal ? 1 : 0) == vector.at("rewards")[i].get<int>());
    }
    CHECK(ends_episode(level, cell) == vector.at("terminated").get<bool>());
  }
}

TEST_CASE("FrozenLake matches RAGEN's rollouts: levels, texts, rewards and slips") {
  const FrozenLakeConfig first{
      .size = 4, .p = 0.8, .is_slippery = true, .success_rate = 1.0 / 3.0, .observation_format = LakeObservation::grid};
  for (const auto& vector : read_vectors("frozenlake.json", "ragen_rollouts"))
    check_rollout(vector, config_of(vector.at("config"), first));
}

TEST_CASE("FrozenLake matches the rollouts and coordinate texts of RAGEN's second version") {
  const FrozenLakeConfig second{
      .size = 4, .p = 0.9, .is_slippery = true, .success_rate = 0.8, .observation_format = LakeObservation::grid};
  for (const auto& vector : read_vectors("frozenlake.json", "ragen_v2_rollouts"))
    check_rollout(vector, config_of(vector.at("config"), second));
}

TEST_CASE("coord text is the first block of grid_coord text and omits holes if there are none") {
  FrozenLakeConfig config = kPlain;
  config.observation_format = LakeObservation::coord;
  config.p = 1;
  FrozenLake lake(config);
  lake.reset(2, 0);
  const auto& level = lake.level();
  const auto place = [&](int cell) { return "(" + std::to_string(cell / 4) + ", " + std::to_string(cell % 4) + ")"; };
  CHECK(lake.observation() == "Board size: 4 rows x 4 cols (zero-indexed).\nStart: " + place(level.start) +
                                  "\nGoal: " + place(level.goal) + "\nPlayer: " + place(level.start));
  config.observation_format = LakeObservation::grid_coord;
  FrozenLake both(config);
  both.reset(2, 0);
  CHECK(both.observation().starts_with("Coordinates: \n" + lake.observation() + "\nGrid Map: \n"));
}

TEST_CASE("action names ignore case, and unknown actions change nothing") {
  const FrozenLakeConfig slippery{
      .size = 8, .p = 1, .is_slippery = true, .success_rate = 0.4, .observation_format = LakeObservation::grid};
  FrozenLake lake(slippery), undisturbed(slippery);
  lake.reset(5, 0);
  undisturbed.reset(5, 0);
  for (const char* unknown : {"", "Jump", "Left ", "Leftt"}) {
    const auto before = lake.observation();
    const auto result = lake.step(unknown);
    CHECK(result.reward == 0);
    CHECK(result.reward_is_integer);
    CHECK_FALSE(result.valid);
    CHECK_FALSE(result.done);
    CHECK_FALSE(result.effective);
    CHECK(lake.observation() == before);
  }
  CHECK(lake.step("lEFT").valid);
  undisturbed.step("Left");
  CHECK(slips(lake) == slips(undisturbed));
}

TEST_CASE("step fails before reset and after the end of an episode") {
  FrozenLake lake(kPlain);
  CHECK_THROWS_WITH_AS(lake.step("Left"), doctest::Contains("no episode"), Error);
  lake.reset(0, 0);
  CHECK(lake.step("Left").done);
  CHECK(lake.success());
  CHECK_THROWS_AS(lake.step("Left"), Error);
}

TEST_CASE("a clone is independent of the original") {
  FrozenLake lake(
      {.size = 8, .p = 1, .is_slippery = true, .success_rate = 0.5, .observation_format = LakeObservation::grid});
  lake.reset(11, 0);
  lake.step("Right");
  const auto clone = lake.clone();
  const auto before = clone->observation();
  CHECK(before == lake.observation());
  const auto followed = slips(lake);
  CHECK(clone->observation() == before);
  CHECK(slips(dynamic_cast<FrozenLake&>(*clone)) == followed);
}

TEST_CASE("noise changes the slips but not the level") {
  const FrozenLakeConfig slippery{
      .size = 8, .p = 1, .is_slippery = true, .success_rate = 0.5, .observation_format = LakeObservation::grid};
  FrozenLake shared(slippery), again(slippery), noisy(slippery), same_noise(slippery);
  int different = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    shared.reset(seed, 0);
    again.reset(seed, 0);
    const NoiseStream noise = level_noise(9, seed);
    noisy.reset(seed, &noise);
    same_noise.reset(seed, &noise);
    CHECK(noisy.observation() == shared.observation());
    const auto of_noise = slips(noisy), of_level = slips(shared);
    CHECK(of_noise == slips(same_noise));
    CHECK(of_level == slips(again));
    different += of_noise != of_level;
  }
  CHECK(different >= 18);
}

TEST_CASE("shortest safe paths solve every level, and greedy paths have the Manhattan length") {
  int greedy_failures = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    FrozenLake lake(kPlain);
    lake.reset(seed, 0);
    const auto greedy = greedy_path(lake);
    const auto safe = shortest_safe_path(lake);
    const auto& level = lake.level();
    CHECK(greedy.size() == static_cast<std::size_t>(std::abs(level.goal / 4 - level.start / 4) +
                                                    std::abs(level.goal % 4 - level.start % 4)));
    CHECK(safe.size() >= greedy.size());
    const auto reaches_goal = [&](const std::vector<std::string>& path) {
      const auto walker = lake.clone();
      for (const auto& action : path)
        if (walker->step(action).done) break;
      return walker->success();
    };
    CHECK(reaches_goal(safe));
    greedy_failures += !reaches_goal(greedy);
  }
  CHECK(greedy_failures > 0);
}
