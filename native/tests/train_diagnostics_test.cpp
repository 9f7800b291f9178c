#include <doctest/doctest.h>

#include <cmath>

#include "base/philox.h"
#include "journal/metric_names.h"
#include "tiny_run.h"
#include "train/metrics/episode_metrics.h"
#include "train/metrics/thoughts.h"

using namespace starpo;
using namespace starpo::test;

namespace {

Episode thinking(int group, const std::string& board, const std::string& thought) {
  Episode episode;
  episode.spec = {0, group, 0, 0, std::nullopt};
  episode.initial = board;
  episode.turns.emplace_back().think = thought;
  return episode;
}

Metrics thought_metrics(const std::vector<Episode>& episodes) {
  Metrics metrics;
  add_thought_metrics(episodes, metrics);
  return metrics;
}

// An episode whose first executed action is this one of Left, Right, Up and Down; none where it is -1.
Episode moving(int group, int action) {
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

TEST_CASE("one thought for every board is a template: all likeness and shares are 1") {
  std::vector<Episode> episodes;
  for (int group = 0; group < 3; ++group)
    for (int member = 0; member < 4; ++member)
      episodes.push_back(thinking(group, "board " + std::to_string(group), "I go to the goal."));
  const auto metrics = thought_metrics(episodes);
  for (const auto name : {metric::rollout_template_share, metric::rollout_thought_likeness_in_group,
                          metric::rollout_thought_likeness_across, metric::rollout_common_opening_share})
    CHECK(at(metrics, name) == 1);
  const auto shared = commonest_thought(episodes);
  CHECK(shared.text == "I go to the goal.");
  CHECK(shared.share == 1);
}

TEST_CASE("thoughts are as alike as the share of word 3-grams that they have in common") {
  const std::vector<Episode> episodes{
      thinking(0, "A", "go down  to\nthe goal"),  // go down to, down to the, to the goal
      thinking(0, "A", "go down to a hole"),      // go down to, down to a, to a hole
      thinking(1, "B", "go left"),
      thinking(1, "B", "go down to the hole"),  // go down to, down to the, to the hole
  };
  const auto metrics = thought_metrics(episodes);
  CHECK(at(metrics, metric::rollout_thought_likeness_in_group) == doctest::Approx((1.0 / 5 + 0) / 2));
  CHECK(at(metrics, metric::rollout_thought_likeness_across) == doctest::Approx((0 + 1.0 / 5) / 2));
  CHECK(at(metrics, metric::rollout_common_opening_share) == 0.75);
  CHECK(at(metrics, metric::rollout_template_share) == 0.25);
}

TEST_CASE("what boards are called, and the order of groups, changes nothing of thoughts' likeness") {
  const std::vector<std::string> said{"a b c d", "a b c", "b c d e", "x y", "a b c d", ""};
  std::vector<Episode> episodes, renamed;
  for (int i = 0; i < 6; ++i) episodes.push_back(thinking(i / 2, std::string(1, "ABC"[i / 2]), said[i]));
  for (int i : {4, 5, 0, 1, 2, 3}) renamed.push_back(thinking(7 - i / 2, std::string(1, "zyx"[i / 2]), said[i]));
  const auto here = thought_metrics(episodes), there = thought_metrics(renamed);
  REQUIRE(here.size() == there.size());
  for (const auto& [name, value] : here) CHECK(there.at(name) == doctest::Approx(value));
  CHECK(commonest_thought(episodes).text == commonest_thought(renamed).text);
}

TEST_CASE("groups on one board aren't held against each other, nor is a member that is alone") {
  const auto one_board = thought_metrics(
      {thinking(0, "A", "a b c"), thinking(0, "A", "a b c"), thinking(1, "A", "a b c"), thinking(1, "A", "a b c")});
  CHECK(at(one_board, metric::rollout_thought_likeness_in_group) == 1);
  CHECK_FALSE(has(one_board, metric::rollout_thought_likeness_across));
  const auto alone = thought_metrics({thinking(0, "A", "a b c"), thinking(1, "B", "a b c")});
  CHECK_FALSE(has(alone, metric::rollout_thought_likeness_in_group));
  CHECK(at(alone, metric::rollout_thought_likeness_across) == 1);
}

TEST_CASE("a template is shown by its first 300 characters, and an invalid reply is its own thought") {
  std::string runes;
  for (int i = 0; i < 301; ++i) runes += "é";
  CHECK(commonest_thought(std::vector<Episode>{thinking(0, "A", runes)}).text == runes.substr(0, 600));
  CHECK(commonest_thought(std::vector<Episode>{thinking(0, "A", "short")}).text == "short");
  Episode invalid = thinking(0, "A", "");
  invalid.turns[0].think = std::nullopt;
  invalid.turns[0].response = "<think>and so on";
  CHECK(first_thought(invalid) == "<think>and so on");
}

TEST_CASE("entropy is told by part and turn of a reply, and a reply's repetitions are counted") {
  Episode episode;
  Turn first, second;
  first.ids = {1, 2, 3, 4, 1, 2, 3, 4};  // 4-grams 1234, 2341, 3412, 4123, 1234
  first.entropies = {1, 1, 1, 4, 0, 0, 0, 1};
  first.think_tokens = 3;
  second.ids = {5, 5, 5};  // too short for any
  second.entropies = {3, 3, 3};
  second.think_tokens = 3;  // none closes the thought
  episode.turns = {first, second};
  Metrics metrics;
  add_reply_metrics(std::vector<Episode>{episode}, true, metrics);
  CHECK(at(metrics, metric::rollout_repeated_ngrams) == doctest::Approx(1.0 / 5));
  CHECK(at(metrics, metric::rollout_think_entropy) == doctest::Approx((1 + 1 + 1 + 4 + 9) / 7.0));
  CHECK(at(metrics, metric::rollout_answer_entropy) == doctest::Approx(1.0 / 4));
  CHECK(metrics.at("rollout/entropy_by_turn/1") == 1);
  CHECK(metrics.at("rollout/entropy_by_turn/2") == 3);

  Metrics thoughtless;
  episode.turns.assign(9, first);
  add_reply_metrics(std::vector<Episode>{episode}, false, thoughtless);
  CHECK_FALSE(has(thoughtless, metric::rollout_think_entropy));
  CHECK_FALSE(has(thoughtless, metric::rollout_answer_entropy));
  CHECK(thoughtless.contains("rollout/entropy_by_turn/8"));
  CHECK_FALSE(thoughtless.contains("rollout/entropy_by_turn/9"));
}

TEST_CASE("actions' shares are told by the environment's names, however a reply spells them") {
  Episode episode = moving(0, 0);
  episode.turns[0].executed = {{"left", 0, "", true, true, false, false, {}},
                               {"UP", 0, "", true, true, false, false, {}},
                               {"Left", 0, "", true, true, false, false, {}}};
  const auto metrics = action_metrics({episode});
  CHECK(metrics.at("rollout/action_share/Left") == 0.75);
  CHECK(metrics.at("rollout/action_share/Up") == 0.25);
  CHECK(metrics.at("rollout/action_share/Down") == 0);
  CHECK(metrics.size() ==
        5);  // four shares and the entropy of the first action, since one group says nothing of boards

  Episode free_text = moving(0, 0);
  free_text.action_names.clear();
  CHECK(action_metrics({free_text, free_text}).empty());
}

TEST_CASE("a first action that the board decides depends on it by all its entropy, and none is a choice too") {
  std::vector<Episode> episodes;
  for (int group = 0; group < 2; ++group)
    for (int member = 0; member < 4; ++member) episodes.push_back(moving(group, group - 1));
  const auto metrics = action_metrics(episodes);
  CHECK(at(metrics, metric::rollout_first_action_entropy) == doctest::Approx(std::log(2)));
  CHECK(at(metrics, metric::rollout_first_action_dependence) == doctest::Approx(std::log(2) + 1 / 16.0));
  CHECK_FALSE(has(action_metrics({moving(0, 0), moving(1, 1)}), metric::rollout_first_action_dependence));
}

TEST_CASE("an arm is told by its place: pulling the first shown, whichever it is, depends on nothing") {
  std::vector<Episode> first_shown, always_dragon;
  for (int i = 0; i < 16; ++i) {
    Episode episode = moving(i / 8, 0);
    episode.action_names =
        i < 8 ? std::vector<std::string>{"Phoenix", "Dragon"} : std::vector<std::string>{"Dragon", "Phoenix"};
    episode.turns[1].executed[0].action = episode.action_names[0];
    first_shown.push_back(episode);
    episode.turns[1].executed[0].action = "Dragon";
    always_dragon.push_back(episode);
  }
  CHECK(at(action_metrics(first_shown), metric::rollout_first_action_dependence) == 0);
  CHECK(at(action_metrics(always_dragon), metric::rollout_first_action_dependence) > 0.69);
}

TEST_CASE("first actions that don't look at the board depend on it by next to nothing, in the mean over seeds") {
  double sum = 0;
  constexpr int seeds = 40;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    const Philox random{seed, RandomStream::train_sampling};
    std::vector<Episode> episodes;
    for (std::uint32_t i = 0; i < 128; ++i)
      episodes.push_back(moving(static_cast<int>(i / 16), static_cast<int>(random(0, i, 0, 0)[0] % 4)));
    sum += at(action_metrics(episodes), metric::rollout_first_action_dependence);
  }
  CHECK(sum / seeds < 0.02);  // 0.08 without the correction
}

TEST_CASE("an iteration tells the template of its thoughts, and no metric that isn't described") {
  TinyRun tiny;
  tiny.config["rollout"]["think"] = true;
  REQUIRE(tiny.train() == 0);
  const auto known = [](const std::string& name) {
    return std::ranges::any_of(metric::iteration_metrics,
                               [&](const auto& each) { return metric::is_named(name, each.name); });
  };
  const auto iterations = tiny.events("iteration");
  REQUIRE(iterations.size() == 2);
  for (const auto& event : iterations) {
    const json& metrics = event.at("metrics");
    for (const auto& [name, value] : metrics.items()) {
      CAPTURE(name);
      CHECK(known(name));
    }
    CHECK(event.at("template").at("text").is_string());
    CHECK(event.at("template").at("share") == metrics.at("rollout/template_share"));
    for (const auto name :
         {metric::rollout_thought_likeness_across, metric::rollout_entropy_by_turn,
          metric::rollout_first_action_entropy, metric::actor_ratio_max, metric::advantage_active_share}) {
      CAPTURE(name);
      CHECK(
          metrics.contains(name == metric::rollout_entropy_by_turn ? metric::of_member(name, "1") : std::string(name)));
    }
  }
}
