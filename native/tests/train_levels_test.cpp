#include <doctest/doctest.h>

#include <array>
#include <set>

#include "env/frozen_lake/frozen_lake.h"
#include "journal/metric_names.h"
#include "tiny_policy.h"
#include "train/context/levels.h"
#include "train/update/optimizer_step.h"
#include "train/warm_start/warm_start.h"

using namespace starpo;
using namespace starpo::test;

TEST_CASE("level seeds depend on iteration and group, and a pool repeats them") {
  RunConfig config = small_run_config();
  const auto episodes = training_episodes(config, 3);
  REQUIRE(episodes.size() == 12);
  CHECK(episodes[0].seed == 10000 + 2 * 3);
  CHECK(episodes[4].seed == 10000 + 2 * 3 + 1);
  CHECK(episodes[5].group == 1);
  CHECK(episodes[5].index_in_group == 1);
  config.levels.pool = 4;
  CHECK(training_episodes(config, 3)[0].seed == 10000 + 2);
  const auto fixed = evaluation_episodes(config, 0);
  CHECK(fixed.size() == 256);
  CHECK(fixed[5].seed == 128);
}

TEST_CASE(
    "every round of every iteration has other levels, groups and noise, whether earlier rounds are played or not") {
  RunConfig config = small_run_config();
  config.rollout.extra_rounds = 2;
  std::set<std::uint64_t> seeds;
  std::set<double> noise;
  for (int iteration : {1, 2})
    for (int round : {0, 1, 2}) {
      const auto episodes = training_episodes(config, iteration, round);
      REQUIRE(episodes.size() == 12);
      for (int group : {0, 1, 2}) {
        const EpisodeSpec& first = episodes[static_cast<std::size_t>(group) * 4];
        CHECK(first.group == round * 3 + group);
        CHECK(first.seed == static_cast<std::uint64_t>(10000 + (iteration - 1) * 9 + round * 3 + group));
        seeds.insert(first.seed);
        noise.insert(NoiseStream(first.noise.value()).draw());
      }
    }
  CHECK(seeds.size() == 18);
  CHECK(noise.size() == 18);
}

namespace {

// Returns the first noise draw of every episode.
std::vector<double> noise_draws(const std::vector<EpisodeSpec>& episodes) {
  std::vector<double> draws;
  for (const EpisodeSpec& episode : episodes) draws.push_back(NoiseStream(episode.noise.value()).draw());
  return draws;
}

}  // namespace

TEST_CASE("noise is shared by a group or separate per rollout, and a repeated level gets new noise") {
  RunConfig config = small_run_config();
  config.levels.pool = 3;
  const auto first = training_episodes(config, 1), second = training_episodes(config, 2);
  REQUIRE(first[0].seed == second[0].seed);
  const auto shared = noise_draws(first);
  for (int i = 0; i < 4; ++i) CHECK(shared[i] == shared[0]);
  CHECK(shared[4] != shared[0]);
  CHECK(noise_draws(second)[0] != shared[0]);
  config.seed += 1;
  CHECK(noise_draws(training_episodes(config, 1))[0] != shared[0]);

  config.environments[0].noise = Noise::independent;
  const auto independent = noise_draws(training_episodes(config, 1));
  CHECK(std::set<double>(independent.begin(), independent.end()).size() == independent.size());
  config.environments[0].noise = Noise::reference;
  for (const EpisodeSpec& episode : training_episodes(config, 1)) CHECK_FALSE(episode.noise.has_value());
}

TEST_CASE("noise of an evaluation depends on validation seed and level only") {
  RunConfig config = small_run_config();
  const auto fixed = noise_draws(evaluation_episodes(config, 0));
  config.seed += 1;
  CHECK(noise_draws(evaluation_episodes(config, 0)) == fixed);
  config.environments[0].noise = Noise::independent;
  CHECK(noise_draws(evaluation_episodes(config, 0)) == fixed);
  config.levels.validation_seed += 1;
  CHECK(noise_draws(evaluation_episodes(config, 0))[0] != fixed[1]);
  config.environments[0].noise = Noise::reference;
  CHECK_FALSE(evaluation_episodes(config, 0)[0].noise.has_value());
}

TEST_CASE("groups are distributed over environments by the largest-remainder method") {
  RunConfig config = small_run_config();
  config.environments.resize(3, config.environments[0]);
  config.environments[0].share = 0.5;
  config.environments[1].share = 0.3;
  config.environments[2].share = 0;
  config.rollout.groups = 8;
  CHECK(groups_by_environment(config.environments, config.rollout.groups) == std::vector<int>{5, 3, 0});
}

TEST_CASE("learning rate warm-up and schedules") {
  RunConfig config = small_run_config();
  config.iterations = 10;
  config.optimizer.learning_rate = 0.1;
  config.optimizer.warmup = 3;
  CHECK(learning_rate(config, 1, 0) == doctest::Approx(0.025));
  CHECK(learning_rate(config, 1, 3) == doctest::Approx(0.1));
  CHECK(learning_rate(config, 1, 100) == doctest::Approx(0.1));
  config.optimizer.schedule = LearningRateSchedule::linear;
  CHECK(learning_rate(config, 6, 100) == doctest::Approx(0.05));
  config.optimizer.schedule = LearningRateSchedule::cosine;
  CHECK(learning_rate(config, 6, 100) == doctest::Approx(0.05));
  CHECK(learning_rate(config, 1, 100) == doctest::Approx(0.1));
}

TEST_CASE("demonstrations are functions of seed and index, and careful ones without mistakes always succeed") {
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  RunConfig config = small_run_config();
  config.rollout.max_response_tokens = 100;
  config.rollout.context = 1000;
  config.warm_start.plain = config.warm_start.positions = config.warm_start.mistakes = 0;
  config.warm_start.careful = 1;
  const Playground playground(config, folder.path());
  for (std::uint32_t i = 0; i < 40; ++i) {
    const Episode episode = play_demonstration(config, playground, i);
    CHECK(episode.success);
    CHECK(episode.score == 1);
    CHECK(play_demonstration(config, playground, i).turns[0].ids == episode.turns[0].ids);
  }
  CHECK(play_demonstration(config, playground, 0).turns[0].response !=
        play_demonstration(config, playground, 1).turns[0].response);
}

TEST_CASE("careful Sokoban demonstrations solve the level and name the first push and every step; others often fail") {
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  RunConfig config = small_run_config();
  config.rollout.max_response_tokens = 100;
  config.rollout.context = 1000;
  auto& environment = config.environments[0];
  environment.type = environment.label = "sokoban";
  environment.config = R"({"dim_x": 6, "dim_y": 6, "num_boxes": 1, "max_steps": 100, "search_depth": 300,
                           "grid_lookup": {"0": "#", "1": "_", "2": "O", "3": "√", "4": "X", "5": "P", "6": "S"}})";
  environment.max_actions = 30;
  environment.max_turns = 6;
  const auto successes = [&](double plain, double positions, double careful, double mistakes,
                             const std::vector<std::string>& words) {
    config.warm_start.plain = plain;
    config.warm_start.positions = positions;
    config.warm_start.careful = careful;
    config.warm_start.mistakes = mistakes;
    const Playground playground(config, folder.path());
    int count = 0;
    for (std::uint32_t i = 0; i < 40; ++i) {
      const Episode episode = play_demonstration(config, playground, i);
      count += episode.success;
      for (const Turn& turn : episode.turns) {
        CHECK(turn.action_valid);
        for (const auto& word : words) CHECK(turn.think->find(word) != std::string::npos);
      }
    }
    return count;
  };
  CHECK(successes(0, 0, 1, 0, {"player ", " box ", " target ", ". push ", " at ", ". path "}) == 40);
  const int greedy = successes(0, 1, 0, 0, {"player ", " box ", " target ", ". go "});
  CHECK(greedy > 4);
  CHECK(greedy < 36);
  CHECK(successes(1, 0, 0, 1, {"push the box"}) < 36);
}

namespace {

constexpr std::uint64_t kTwoTo32 = 1ull << 32;

}  // namespace

TEST_CASE("demonstrations are numbered in 64 bits, and the first 2^32 match 32-bit numbers") {
  const auto draws = [](std::uint64_t index) {
    DemonstrationDraws next(42, index);
    return std::array{next.uniform(), next.uniform(), next.uniform()};
  };
  CHECK(draws(7) == std::array{0.348561078f, 0.627697945f, 0.970040321f});
  CHECK(draws(kTwoTo32 - 1) == std::array{0.61569047f, 0.625602841f, 0.330856174f});
  CHECK(draws(kTwoTo32 + 7) != draws(7));
  CHECK(draws(2 * kTwoTo32 + 7) != draws(kTwoTo32 + 7));

  RunConfig config = small_run_config();
  config.seed = 42;
  const auto noise = [&](Noise kind, std::uint64_t index) {
    config.environments[0].noise = kind;
    return noise_draws({demonstration_episode(config, 0, index)})[0];
  };
  CHECK(noise(Noise::shared, 7) == 0.91948237088885898);
  CHECK(noise(Noise::shared, kTwoTo32 - 1) == 0.20486657097312588);
  CHECK(noise(Noise::independent, 7) == 0.45374519601813945);
  CHECK(noise(Noise::independent, kTwoTo32 - 1) == 0.12459765047602622);
  std::set<double> others;
  for (const Noise kind : {Noise::shared, Noise::independent})
    for (const std::uint64_t index : {std::uint64_t{7}, kTwoTo32 + 7, 2 * kTwoTo32 + 7})
      others.insert(noise(kind, index));
  CHECK(others.size() == 6);
  CHECK(demonstration_episode(config, 0, kTwoTo32 + 7).seed == demonstration_episode(config, 0, 7).seed + kTwoTo32);
}

TEST_CASE("a warm start does not repeat its first demonstrations") {
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  RunConfig config = small_run_config();
  config.rollout.max_response_tokens = 100;
  config.rollout.context = 1000;
  config.warm_start.steps_per_iteration = 1;
  config.warm_start.batch = 4;
  const auto loss = [&](int iteration) {
    const auto state = tiny_state(config, folder.path());
    return warm_start_iteration(state->config, state->playground, state->replica, state->threads, iteration,
                                [](int, int) {})
        .metrics.at(std::string(metric::kWarmStartLoss));
  };
  const double first = loss(1);
  CHECK(loss(1) == first);
  CHECK(loss(1 + (1 << 30)) != first);  // 2^32 demonstrations later; a run with large batches can reach this
}
