#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "config/idle_settings.h"
#include "repository.h"
#include "temporary_folder.h"

using namespace starpo;
using nlohmann::json;

namespace {

// The example trains FrozenLake by StarPO-S without a critic: 8 groups of 16, of which half are kept, and steps of 32
// episodes.
json starpo_s_example() { return json::parse(read_text(test::repository() / "docs/formats/examples/run.json")); }

// Returns the settings without effect in a configuration, with the reasons.
std::map<std::string, std::string> idle_in(const json& config) {
  std::map<std::string, std::string> reasons;
  for (const auto& [path, reason] : idle_settings(parse_run_config(config.dump()))) {
    CHECK_MESSAGE(reasons.emplace(path, reason).second, "twice: ", path);
    CHECK_FALSE(reason.empty());
    CHECK_FALSE(reason.ends_with("."));
  }
  return reasons;
}

// Returns the same after changes to the example, each a pointer with its value.
std::map<std::string, std::string> idle_after(const std::vector<std::pair<std::string, json>>& changes) {
  auto config = starpo_s_example();
  for (const auto& [pointer, value] : changes) config[json::json_pointer(pointer)] = value;
  return idle_in(config);
}

}  // namespace

TEST_CASE("weights of claims have no effect without reasoning or without rules that check claims") {
  CHECK_FALSE(idle_in(starpo_s_example()).contains("reward.grounding_weight"));
  CHECK(idle_after({{"/rollout/think", false}}).at("reward.grounding_weight").starts_with("rollout.think is false"));
  const json program{{"command", "true"},         {"directory", "/"},   {"processes", 1},
                     {"episodes_per_process", 1}, {"start_seconds", 1}, {"answer_seconds", 1}};
  CHECK(idle_after({{"/environments/0/type", "process"}, {"/environments/0/config", program}})
            .at("reward.faithfulness_weight")
            .starts_with("no environment has rules"));
}

TEST_CASE("options of normalization, whitening and the length cost have no effect while these are off") {
  const auto idle = idle_in(starpo_s_example());
  CHECK(idle.at("reward.normalize_terms") == "reward.normalization is none");
  CHECK(idle.at("reward.length_buffer") == "reward.length_cost is 0");
  CHECK(idle.at("advantage.whiten_over") == "advantage.whiten is false");
  const auto active =
      idle_after({{"/reward/normalization", "mean_std"}, {"/reward/length_cost", 0.1}, {"/advantage/whiten", true}});
  for (const char* path : {"reward.normalize_terms", "reward.length_buffer", "advantage.whiten_over"})
    CHECK_FALSE(active.contains(path));
  CHECK(idle_after({{"/reward/normalization", "mean"}})
            .at("reward.normalize_terms")
            .starts_with("reward.normalization is mean"));
}

TEST_CASE("early stops need a filter that can keep no group, evaluations between start and end, and 21 iterations") {
  const char *empty = "early_stop.empty_filters", *failed = "early_stop.failed_evaluations",
             *reward_std = "early_stop.reward_std";
  CHECK(idle_in(starpo_s_example()).at(empty) == "this filter.strategy always keeps a group");
  const std::pair<std::string, json> top_p{"/filter/strategy", "top_p"};
  CHECK_FALSE(idle_after({top_p}).contains(empty));
  CHECK(idle_after({top_p, {"/filter/score", "length"}}).contains(empty));
  CHECK(idle_after({top_p, {"/rollout/group_size", 1}}).contains(empty));

  CHECK(idle_after({{"/evaluation/every", 0}}).at(failed).starts_with("evaluation.every is 0"));
  CHECK(idle_after({{"/environments/0/validate", false}}).at(failed) == "no environment has validate true");
  std::vector<std::pair<std::string, json>> changes{
      {"/iterations", 50}, {"/evaluation/every", 10}, {"/early_stop/failed_evaluations", 4}};
  CHECK_FALSE(idle_after(changes).contains(failed));
  changes.back().second = 5;
  CHECK(idle_after(changes).at(failed) == "the number of evaluations between start and end is 4");
  changes.push_back({"/iterations", 51});
  CHECK_FALSE(idle_after(changes).contains(failed));
  changes.insert(changes.end(), {{"/start/run", "parent"}, {"/start/checkpoint", 20}});
  CHECK(idle_after(changes).at(failed) == "the number of evaluations between start and end is 3");

  CHECK(idle_after({{"/iterations", 20}}).at(reward_std).starts_with("the run has at most 20 iterations"));
  CHECK_FALSE(idle_after({{"/iterations", 21}}).contains(reward_std));
  CHECK(idle_after({{"/rollout/group_size", 1}}).at(reward_std).starts_with("rollout.group_size is 1"));
  CHECK(idle_after({{"/task", "warm_start"}}).at(reward_std).starts_with("task is warm_start"));
}

TEST_CASE("replay needs a limit and a share, and gives clipping and corrections an effect") {
  CHECK(idle_in(starpo_s_example()).at("replay.share") == "replay.iterations is 0: no group is replayed");
  CHECK(idle_after({{"/replay/iterations", 4}}).at("replay.iterations") == "replay.share is 0: no group is replayed");
  std::vector<std::pair<std::string, json>> changes{
      {"/policy_loss/mini_batch", 64}, {"/correction/weights", "truncate"}, {"/replay/iterations", 4}};
  CHECK(idle_after(changes).contains("policy_loss.clip_low"));
  CHECK(idle_after(changes).contains("correction.high"));
  changes.push_back({"/replay/share", 0.5});
  for (const char* path : {"policy_loss.clip_low", "correction.high", "replay.iterations", "replay.share"})
    CHECK_FALSE(idle_after(changes).contains(path));
}

TEST_CASE("clipping has no effect if each iteration takes a single on-policy step") {
  const auto example_idle = idle_in(starpo_s_example());
  REQUIRE(starpo_s_example().at("policy_loss").at("mini_batch") == 32);
  CHECK_FALSE(example_idle.contains("policy_loss.clip_low"));

  const std::vector<std::pair<std::string, json>> one_step{{"/policy_loss/mini_batch", 64}};
  for (const char* path : {"policy_loss.clip_low", "policy_loss.clip_high", "policy_loss.dual_clip"}) {
    CAPTURE(path);
    CHECK(idle_after(one_step).at(path).ends_with("the ratio is 1 at every token"));
    CHECK_FALSE(idle_after({{"/policy_loss/mini_batch", 48}}).contains(path));
    CHECK_FALSE(idle_after({{"/policy_loss/mini_batch", 64}, {"/policy_loss/epochs", 2}}).contains(path));
    CHECK_FALSE(idle_after({{"/policy_loss/mini_batch", 64}, {"/filter/keep", 0.75}}).contains(path));
    CHECK_FALSE(idle_after({{"/policy_loss/mini_batch", 64}, {"/filter/strategy", "top_p"}})
                    .contains(path));  // which may keep all
    CHECK(idle_after({{"/policy_loss/mini_batch", 128}, {"/filter/strategy", "none"}}).contains(path));
    CHECK(idle_after({{"/optimizer/learning_rate", 0}}).contains(path));
  }
  // The cross-entropy of successful episodes does not depend on the ratio.
  const char* cross_entropy = "policy_loss.cross_entropy_coefficient";
  CHECK_FALSE(idle_after(one_step).contains(cross_entropy));
  CHECK(idle_after({{"/optimizer/learning_rate", 0}}).contains(cross_entropy));
  // The filter keeps at least one group per environment.
  auto small = starpo_s_example().at("environments").at(0);
  small.update({{"label", "small"}, {"share", 0.15}});
  CHECK(idle_after({{"/policy_loss/mini_batch", 64}, {"/environments/1", small}}).contains("policy_loss.clip_low"));
  CHECK_FALSE(idle_after({{"/policy_loss/mini_batch", 16}, {"/filter/keep", 0.125}, {"/environments/1", small}})
                  .contains("policy_loss.clip_low"));

  const auto on_gpu = idle_after({{"/policy_loss/mini_batch", 64}, {"/device", "cuda"}, {"/exactness", "fast"}});
  CHECK(on_gpu.at("policy_loss.clip_low").find("rollout/logprob_gap") != std::string::npos);
}

TEST_CASE("loss and correction settings have no effect while their term is off") {
  const auto example_idle = idle_in(starpo_s_example());
  for (const char* path : {"policy_loss.tau_positive", "policy_loss.likelihood_gate", "correction.level",
                           "correction.high", "correction.divergence", "correction.bound"})
    CHECK(example_idle.contains(path));
  for (const char* path : {"policy_loss.objective", "policy_loss.ratio_level", "policy_loss.clip_turn_factor",
                           "policy_loss.entropy_tokens", "policy_loss.log_ratio_penalty", "correction.weights"})
    CHECK_FALSE(example_idle.contains(path));
  const auto sapo = idle_after({{"/policy_loss/objective", "sapo"}});
  CHECK(sapo.contains("policy_loss.clip_low"));
  CHECK_FALSE(sapo.contains("policy_loss.tau_negative"));
  CHECK(idle_after({{"/policy_loss/entropy_coefficient", 0}}).contains("policy_loss.entropy_tokens"));
  CHECK_FALSE(idle_after({{"/policy_loss/likelihood_coefficient", 0.1}}).contains("policy_loss.likelihood_gate"));

  std::vector<std::pair<std::string, json>> corrected{{"/correction/weights", "truncate"}};
  CHECK(idle_after(corrected).at("correction.weights").find("same log-probabilities") != std::string::npos);
  corrected.insert(corrected.end(), {{"/device", "cuda"}, {"/exactness", "fast"}});
  const auto on_gpu = idle_after(corrected);
  CHECK_FALSE(on_gpu.contains("correction.weights"));
  CHECK_FALSE(on_gpu.contains("correction.high"));
  CHECK(on_gpu.contains("correction.bound"));
}

TEST_CASE("critic settings have no effect without a critic") {
  const auto without = idle_in(starpo_s_example());
  for (const char* path : {"critic.learning_rate", "critic.value_clip", "critic.gradient_clip", "critic.warmup",
                           "advantage.lambda", "advantage.gamma"})
    CHECK(without.contains(path));
  const std::vector<std::pair<std::string, json>> with{{"/advantage/estimator", "gae"}, {"/critic/model", "head"}};
  const auto idle = idle_after(with);
  for (const auto& [path, reason] : idle) CHECK_MESSAGE(!path.starts_with("critic."), path);
  CHECK_FALSE(idle.contains("advantage.lambda"));
  CHECK_FALSE(idle.contains("advantage.gamma"));
  auto one_step = with;
  one_step.emplace_back("/policy_loss/mini_batch", 64);
  CHECK(idle_after(one_step).contains("critic.value_clip"));
  auto fixed = with;
  fixed.emplace_back("/critic/learning_rate", 0);
  CHECK(idle_after(fixed).contains("critic.gradient_clip"));
  auto warming = with;
  warming.emplace_back("/critic/warmup", 100000);
  CHECK(idle_after(warming).contains("optimizer.learning_rate"));
}

TEST_CASE("a filter has no effect without groups that differ, or if it keeps all") {
  CHECK_FALSE(idle_in(starpo_s_example()).contains("filter.strategy"));
  const auto alone = idle_after({{"/rollout/group_size", 1}});
  CHECK(alone.contains("filter.strategy"));
  CHECK(alone.contains("filter.keep"));
  const auto none = idle_after({{"/filter/strategy", "none"}});
  CHECK(none.contains("filter.keep"));
  CHECK_FALSE(none.contains("filter.strategy"));
  const auto all = idle_after({{"/filter/keep", 1}});
  CHECK(all.contains("filter.strategy"));
  CHECK_FALSE(all.contains("filter.keep"));
  const auto one_group = idle_after({{"/rollout/groups", 1}});
  CHECK(one_group.contains("filter.strategy"));
  CHECK(one_group.contains("filter.keep"));
}

TEST_CASE("dr_grpo is reported as partly idle unless policy_loss.average is fixed_length or trajectory_sum") {
  CHECK(idle_after({{"/advantage/estimator", "dr_grpo"}}).contains("advantage.estimator"));
  CHECK(idle_after({{"/advantage/estimator", "dr_grpo"}, {"/policy_loss/average", "token"}})
            .contains("advantage.estimator"));
  CHECK_FALSE(idle_after({{"/advantage/estimator", "dr_grpo"}, {"/policy_loss/average", "fixed_length"}})
                  .contains("advantage.estimator"));
  CHECK_FALSE(idle_in(starpo_s_example()).contains("advantage.estimator"));
}

TEST_CASE("KL settings have no effect without kl.coefficient, nor gamma without per-token rewards") {
  for (const char* path : {"kl.estimator", "kl.placement", "kl.reference"}) {
    CHECK(idle_in(starpo_s_example()).contains(path));
    CHECK_FALSE(idle_after({{"/kl/coefficient", 0.1}}).contains(path));
  }
  CHECK_FALSE(idle_after({{"/kl/coefficient", 0.1}, {"/kl/placement", "reward"}}).contains("advantage.gamma"));
  CHECK(idle_after({{"/kl/coefficient", 0.1}, {"/kl/placement", "loss"}}).contains("advantage.gamma"));
}

TEST_CASE("settings of levels, files, diagnostics, evaluation and device that have no effect are found") {
  CHECK(idle_after({{"/diagnostics/every", 0}}).contains("diagnostics.samples"));
  CHECK_FALSE(idle_after({{"/diagnostics/every", 5}}).contains("diagnostics.samples"));
  CHECK_FALSE(idle_after({{"/iterations", 100}, {"/levels/pool", 799}}).contains("levels.pool"));
  CHECK(idle_after({{"/iterations", 100}, {"/levels/pool", 800}}).contains("levels.pool"));
  CHECK_FALSE(idle_in(starpo_s_example()).contains("levels.pool"));
  CHECK(idle_after({{"/rollout_files/keep_last", 0}}).contains("rollout_files.keep_every"));
  CHECK_FALSE(idle_after({{"/rollout_files/keep_last", 5}}).contains("rollout_files.keep_every"));
  CHECK_FALSE(idle_in(starpo_s_example()).contains("evaluation.every"));
  CHECK(idle_after({{"/environments/0/validate", false}}).contains("evaluation.every"));
  CHECK(idle_in(starpo_s_example()).contains("exactness"));
  CHECK_FALSE(idle_after({{"/device", "auto"}}).contains("exactness"));
  CHECK(idle_after({{"/optimizer/learning_rate", 0}}).contains("optimizer.warmup"));
  CHECK_FALSE(idle_in(starpo_s_example()).contains("optimizer.warmup"));
}

TEST_CASE("noise needs a stochastic environment, and the next prompt needs a next turn") {
  CHECK(idle_after({{"/environments/0/config/is_slippery", false}}).contains("environments[0].noise"));
  CHECK_FALSE(idle_after({{"/environments/0/config/is_slippery", true}}).contains("environments[0].noise"));
  CHECK(idle_after({{"/environments/0/config/is_slippery", false}}).contains("environments[0].config.success_rate"));
  CHECK_FALSE(
      idle_after({{"/environments/0/config/is_slippery", true}}).contains("environments[0].config.success_rate"));
  CHECK(idle_in(starpo_s_example()).contains("environments[0].share"));
  auto second = starpo_s_example().at("environments").at(0);
  second["label"] = "second";
  CHECK_FALSE(idle_after({{"/environments/1", second}}).contains("environments[0].share"));
  CHECK(idle_after({{"/environments/0/max_turns", 1}}).contains("environments[0].prompt.next"));
  CHECK(idle_after({{"/rollout/context_turns", 1}}).contains("environments[0].prompt.next"));
  CHECK_FALSE(idle_after({{"/rollout/context_turns", 2}}).contains("environments[0].prompt.next"));
  CHECK(idle_after({{"/rollout/context_turns", 5}}).contains("rollout.context_turns"));
  CHECK_FALSE(idle_after({{"/rollout/context_turns", 4}}).contains("rollout.context_turns"));
  CHECK_FALSE(idle_in(starpo_s_example()).contains("environments[0].prompt.next"));
}

TEST_CASE("settings of the other task have no effect") {
  const auto reinforces = idle_in(starpo_s_example()), warms = idle_after({{"/task", "warm_start"}});
  CHECK(reinforces.contains("warm_start.plain"));
  CHECK_FALSE(reinforces.contains("advantage.estimator"));
  CHECK_FALSE(warms.contains("warm_start.plain"));
  CHECK_FALSE(warms.contains("rollout.top_p"));  // evaluations use it
  for (const char* path : {"advantage.estimator", "diagnostics.every", "automatic_action"}) {
    CAPTURE(path);
    CHECK(warms.contains(path));
  }
  CHECK_FALSE(warms.contains("optimizer.learning_rate"));
}
