#include <doctest/doctest.h>

#include <cmath>

#include "base/philox.h"
#include "journal/metric_names.h"
#include "tiny_run.h"
#include "train/metrics/episode_metrics.h"
#include "train/metrics/reasoning_metrics.h"

using namespace starpo;
using namespace starpo::test;

namespace {

Episode episode_with_reasoning(int group, const std::string& board, const std::string& reasoning) {
  Episode episode;
  episode.spec = {0, group, 0, 0, std::nullopt};
  episode.initial = board;
  episode.turns.emplace_back().think = reasoning;
  return episode;
}

Metrics metrics_of_reasoning(const std::vector<Episode>& episodes) {
  Metrics metrics;
  add_reasoning_metrics(episodes, metrics);
  return metrics;
}

// Returns an episode with this first executed action (index into Left, Right, Up, Down), or none if -1.
Episode episode_with_action(int group, int action) {
  Episode episode;
  episode.spec = {0, group, 0, 0, std::nullopt};
  episode.action_names = {"Left", "Right", "Up", "Down"};
  episode.turns.resize(2);
  if (action >= 0)
    episode.turns[1].executed.push_back(
        {episode.action_names[static_cast<std::size_t>(action)], 0, "", true, true, false, false, {}});
  return episode;
}

Metrics action_metrics(const std::vector<Episode>& episodes) {
  Metrics metrics;
  add_action_metrics(episodes, metrics);
  return metrics;
}

double at(const Metrics& metrics, std::string_view name) { return metrics.at(std::string(name)); }
bool has(const Metrics& metrics, std::string_view name) { return metrics.contains(std::string(name)); }

}  // namespace

TEST_CASE("one reasoning text for every level is a template: all similarities and shares are 1") {
  std::vector<Episode> episodes;
  for (int group = 0; group < 3; ++group)
    for (int i = 0; i < 4; ++i)
      episodes.push_back(episode_with_reasoning(group, "board " + std::to_string(group), "I go to the goal."));
  const auto metrics = metrics_of_reasoning(episodes);
  for (const auto name : {metric::kRolloutTemplateShare, metric::kRolloutThoughtLikenessInGroup,
                          metric::kRolloutThoughtLikenessAcross, metric::kRolloutCommonOpeningShare})
    CHECK(at(metrics, name) == 1);
  const auto shared = most_common_reasoning(episodes);
  CHECK(shared.text == "I go to the goal.");
  CHECK(shared.share == 1);
}

TEST_CASE("similarity of reasoning is the share of common word 3-grams") {
  const std::vector<Episode> episodes{
      episode_with_reasoning(0, "A", "go down  to\nthe goal"),  // go down to, down to the, to the goal
      episode_with_reasoning(0, "A", "go down to a hole"),      // go down to, down to a, to a hole
      episode_with_reasoning(1, "B", "go left"),
      episode_with_reasoning(1, "B", "go down to the hole"),  // go down to, down to the, to the hole
  };
  const auto metrics = metrics_of_reasoning(episodes);
  CHECK(at(metrics, metric::kRolloutThoughtLikenessInGroup) == doctest::Approx((1.0 / 5 + 0) / 2));
  CHECK(at(metrics, metric::kRolloutThoughtLikenessAcross) == doctest::Approx((0 + 1.0 / 5) / 2));
  CHECK(at(metrics, metric::kRolloutCommonOpeningShare) == 0.75);
  CHECK(at(metrics, metric::kRolloutTemplateShare) == 0.25);
}

TEST_CASE("names of boards and the order of groups do not change similarity") {
  const std::vector<std::string> reasoning{"a b c d", "a b c", "b c d e", "x y", "a b c d", ""};
  std::vector<Episode> episodes, renamed;
  for (int i = 0; i < 6; ++i)
    episodes.push_back(episode_with_reasoning(i / 2, std::string(1, "ABC"[i / 2]), reasoning[i]));
  for (int i : {4, 5, 0, 1, 2, 3})
    renamed.push_back(episode_with_reasoning(7 - i / 2, std::string(1, "zyx"[i / 2]), reasoning[i]));
  const auto original = metrics_of_reasoning(episodes), renamed_metrics = metrics_of_reasoning(renamed);
  REQUIRE(original.size() == renamed_metrics.size());
  for (const auto& [name, value] : original) CHECK(renamed_metrics.at(name) == doctest::Approx(value));
  CHECK(most_common_reasoning(episodes).text == most_common_reasoning(renamed).text);
}

TEST_CASE("groups on the same level are not compared across groups, nor single episodes within a group") {
  const auto one_board =
      metrics_of_reasoning({episode_with_reasoning(0, "A", "a b c"), episode_with_reasoning(0, "A", "a b c"),
                            episode_with_reasoning(1, "A", "a b c"), episode_with_reasoning(1, "A", "a b c")});
  CHECK(at(one_board, metric::kRolloutThoughtLikenessInGroup) == 1);
  CHECK_FALSE(has(one_board, metric::kRolloutThoughtLikenessAcross));
  const auto alone =
      metrics_of_reasoning({episode_with_reasoning(0, "A", "a b c"), episode_with_reasoning(1, "B", "a b c")});
  CHECK_FALSE(has(alone, metric::kRolloutThoughtLikenessInGroup));
  CHECK(at(alone, metric::kRolloutThoughtLikenessAcross) == 1);
}

TEST_CASE("a template is truncated to 300 characters, and an invalid response counts as its own reasoning") {
  std::string runes;
  for (int i = 0; i < 301; ++i) runes += "é";
  CHECK(most_common_reasoning(std::vector<Episode>{episode_with_reasoning(0, "A", runes)}).text ==
        runes.substr(0, 600));
  CHECK(most_common_reasoning(std::vector<Episode>{episode_with_reasoning(0, "A", "short")}).text == "short");
  Episode invalid = episode_with_reasoning(0, "A", "");
  invalid.turns[0].think = std::nullopt;
  invalid.turns[0].response = "<think>and so on";
  CHECK(first_reasoning(invalid) == "<think>and so on");
}

TEST_CASE("entropy is reported per part and turn of a response, and repeated 4-grams are counted") {
  Episode episode;
  Turn first, second;
  first.ids = {1, 2, 3, 4, 1, 2, 3, 4};  // 4-grams 1234, 2341, 3412, 4123, 1234
  first.entropies = {1, 1, 1, 4, 0, 0, 0, 1};
  first.think_tokens = 3;
  second.ids = {5, 5, 5};  // too short for a 4-gram
  second.entropies = {3, 3, 3};
  second.think_tokens = 3;  // no token closes the reasoning
  episode.turns = {first, second};
  Metrics metrics;
  add_response_metrics(std::vector<Episode>{episode}, true, metrics);
  CHECK(at(metrics, metric::kRolloutRepeatedNgrams) == doctest::Approx(1.0 / 5));
  CHECK(at(metrics, metric::kRolloutThinkEntropy) == doctest::Approx((1 + 1 + 1 + 4 + 9) / 7.0));
  CHECK(at(metrics, metric::kRolloutAnswerEntropy) == doctest::Approx(1.0 / 4));
  CHECK(metrics.at("rollout/entropy_by_turn/1") == 1);
  CHECK(metrics.at("rollout/entropy_by_turn/2") == 3);

  Metrics thoughtless;
  episode.turns.assign(9, first);
  add_response_metrics(std::vector<Episode>{episode}, false, thoughtless);
  CHECK_FALSE(has(thoughtless, metric::kRolloutThinkEntropy));
  CHECK_FALSE(has(thoughtless, metric::kRolloutAnswerEntropy));
  CHECK(thoughtless.contains("rollout/entropy_by_turn/8"));
  CHECK_FALSE(thoughtless.contains("rollout/entropy_by_turn/9"));
}

TEST_CASE("action shares use the environment's names, regardless of spelling in responses") {
  Episode episode = episode_with_action(0, 0);
  episode.turns[0].executed = {{"left", 0, "", true, true, false, false, {}},
                               {"UP", 0, "", true, true, false, false, {}},
                               {"Left", 0, "", true, true, false, false, {}}};
  const auto metrics = action_metrics({episode});
  CHECK(metrics.at("rollout/action_share/Left") == 0.75);
  CHECK(metrics.at("rollout/action_share/Up") == 0.25);
  CHECK(metrics.at("rollout/action_share/Down") == 0);
  CHECK(metrics.size() == 5);  // four shares and the first-action entropy; dependence is undefined for one group

  Episode free_text = episode_with_action(0, 0);
  free_text.action_names.clear();
  CHECK(action_metrics({free_text, free_text}).empty());
}

TEST_CASE(
    "a first action that is determined by the level has full dependence, and no action counts as a separate choice") {
  std::vector<Episode> episodes;
  for (int group = 0; group < 2; ++group)
    for (int i = 0; i < 4; ++i) episodes.push_back(episode_with_action(group, group - 1));
  const auto metrics = action_metrics(episodes);
  CHECK(at(metrics, metric::kRolloutFirstActionEntropy) == doctest::Approx(std::log(2)));
  CHECK(at(metrics, metric::kRolloutFirstActionDependence) == doctest::Approx(std::log(2) + 1 / 16.0));
  CHECK_FALSE(has(action_metrics({episode_with_action(0, 0), episode_with_action(1, 1)}),
                  metric::kRolloutFirstActionDependence));
}

TEST_CASE("arms count by position: always pulling the first shown arm has no dependence") {
  std::vector<Episode> first_shown, always_dragon;
  for (int i = 0; i < 16; ++i) {
    Episode episode = episode_with_action(i / 8, 0);
    episode.action_names =
        i < 8 ? std::vector<std::string>{"Phoenix", "Dragon"} : std::vector<std::string>{"Dragon", "Phoenix"};
    episode.turns[1].executed[0].action = episode.action_names[0];
    first_shown.push_back(episode);
    episode.turns[1].executed[0].action = "Dragon";
    always_dragon.push_back(episode);
  }
  CHECK(at(action_metrics(first_shown), metric::kRolloutFirstActionDependence) == 0);
  CHECK(at(action_metrics(always_dragon), metric::kRolloutFirstActionDependence) > 0.69);
}

TEST_CASE("first actions that ignore the level have near-zero dependence, averaged over seeds") {
  double sum = 0;
  constexpr int seeds = 40;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    const Philox random{seed, RandomStream::train_sampling};
    std::vector<Episode> episodes;
    for (std::uint32_t i = 0; i < 128; ++i)
      episodes.push_back(episode_with_action(static_cast<int>(i / 16), static_cast<int>(random(0, i, 0, 0)[0] % 4)));
    sum += at(action_metrics(episodes), metric::kRolloutFirstActionDependence);
  }
  CHECK(sum / seeds < 0.02);  // 0.08 without the correction
}

TEST_CASE("an iteration reports its reasoning template, and all its metrics are described") {
  TinyRun tiny;
  tiny.config["rollout"]["think"] = true;
  REQUIRE(tiny.train() == 0);
  const auto iterations = tiny.events("iteration");
  REQUIRE(iterations.size() == 2);
  for (const auto& event : iterations) {
    const json& metrics = event.at("metrics");
    for (const auto& [name, value] : metrics.items()) {
      CAPTURE(name);
      CHECK(is_iteration_metric(name));
    }
    CHECK(event.at("template").at("text").is_string());
    CHECK(event.at("template").at("share") == metrics.at("rollout/template_share"));
    for (const auto name :
         {metric::kRolloutThoughtLikenessAcross, metric::kRolloutEntropyByTurn, metric::kRolloutFirstActionEntropy,
          metric::kActorRatioMax, metric::kAdvantageActiveShare}) {
      CAPTURE(name);
      CHECK(metrics.contains(name == metric::kRolloutEntropyByTurn ? metric::family_metric(name, "1")
                                                                   : std::string(name)));
    }
  }
}
