#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/error.h"
#include "config/run_config.h"
#include "config/upgrade.h"
#include "error_code.h"
#include "repository.h"
#include "temporary_folder.h"

using namespace starpo;
using nlohmann::json;

namespace {

json example() { return json::parse(read_text(test::repository() / "docs/formats/examples/run.json")); }

// Returns the result of parsing the example after a change: "<code> <path>", or "valid".
std::string verdict(const std::function<void(json&)>& change) {
  auto config = example();
  change(config);
  try {
    parse_run_config(config.dump());
  } catch (const Error& error) {
    CHECK_FALSE(error.hint().empty());
    const std::string message = error.what();
    return error.code() + " " + message.substr(0, message.find(": "));
  }
  return "valid";
}

std::string verdict(const std::string& pointer, const json& value) {
  return verdict([&](json& config) { config[json::json_pointer(pointer)] = value; });
}

const json& field_of(const json& fields, const std::string& path) {
  for (const auto& field : fields)
    if (field.at("path") == path) return field;
  FAIL("the schema has no " << path);
  return fields;
}

// Collects the paths of all values of a configuration, in the format of the schema.
void collect_paths(const json& value, const std::string& path, std::set<std::string>& paths) {
  if (value.is_object() && !value.empty() && !path.ends_with(".config"))
    for (const auto& [key, inner] : value.items()) collect_paths(inner, path.empty() ? key : path + "." + key, paths);
  else if (value.is_array())
    paths.insert(path), collect_paths(value.at(0), path + "[]", paths);
  else
    paths.insert(path);
}

}  // namespace

TEST_CASE("the example of run.json is read") {
  const auto config = read_run_config(test::repository() / "docs/formats/examples/run.json");
  CHECK(config.version == newest_run_config_version());
  CHECK(config.preset == "starter-frozen-lake-grpo-s");
  CHECK(config.task == Task::reinforce);
  CHECK(config.start.model == "resources/starter");
  CHECK(config.start.weights == StartWeights::load);
  REQUIRE(config.environments.size() == 1);
  const auto& environment = config.environments[0];
  CHECK(environment.label == "frozen-lake");
  CHECK(environment.type == "frozen-lake");
  CHECK(json::parse(environment.config).at("size") == 4);
  CHECK(environment.validate);
  CHECK(environment.noise == Noise::shared);
  CHECK(environment.prompt.next == "{state}");
  CHECK(config.rollout.groups == 8);
  CHECK(config.rollout.group_size == 16);
  CHECK(config.rollout.think);
  CHECK(config.levels.train_seed == 10000);
  CHECK(config.reward.format_penalty == -0.1);
  CHECK(config.filter.strategy == FilterStrategy::fraction);
  CHECK(config.advantage.estimator == AdvantageEstimator::grpo);
  CHECK(config.policy_loss.clip_high == 0.28);
  CHECK(config.policy_loss.average == LossAverage::trajectory);
  CHECK(config.optimizer.epsilon == 1e-8);
  CHECK(config.optimizer.schedule == LearningRateSchedule::constant);
  CHECK(config.optimizer.recompute == Recompute::none);
  CHECK(config.exactness == Exactness::exact);
  CHECK(config.device == "cpu");
  CHECK(config.evaluation.levels == 256);
  CHECK(config.checkpoint.keep == 2);
  CHECK(config.rollout_files.keep_every == 10);
  CHECK(config.storage.budget_gigabytes == 0);
  CHECK(config.warm_start.plain == 0.5);
  CHECK(run_config_warnings(config).empty());
}

TEST_CASE("contradictory loss settings are rejected with a fix") {
  const auto refusal = [](const std::vector<std::pair<std::string, json>>& changes) {
    auto config = example();
    for (const auto& [pointer, value] : changes) config[json::json_pointer(pointer)] = value;
    try {
      parse_run_config(config.dump());
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("valid");
  };
  for (const char* objective : {"cispo", "sapo", "dppo"}) {
    CHECK(refusal({{"/policy_loss/objective", objective}}) == "valid");
    CHECK(refusal({{"/policy_loss/objective", objective}, {"/policy_loss/dual_clip", 3}})
              .starts_with("policy_loss.dual_clip: must be 0"));
    CHECK(refusal({{"/policy_loss/objective", objective}, {"/policy_loss/ratio_level", "turn"}})
              .starts_with("policy_loss.ratio_level: must be token"));
  }
  CHECK(refusal({{"/policy_loss/objective", "sapo"}, {"/policy_loss/clip_turn_factor", 2}})
            .starts_with("policy_loss.clip_turn_factor: must be 1"));
  for (const char* level : {"sequence", "trajectory"})
    CHECK(refusal({{"/policy_loss/ratio_level", level}, {"/policy_loss/clip_turn_factor", 2}})
              .starts_with("policy_loss.clip_turn_factor: must be 1"));
  CHECK(refusal({{"/policy_loss/ratio_level", "turn"}, {"/policy_loss/clip_turn_factor", 2}}) == "valid");
  CHECK(refusal({{"/policy_loss/entropy_tokens", "reasoning"}}) == "valid");
  CHECK(refusal({{"/policy_loss/entropy_tokens", "reasoning"}, {"/rollout/think", false}})
            .starts_with("policy_loss.entropy_tokens: must be all"));
}

TEST_CASE("invalid configurations are rejected with code and path") {
  CHECK(verdict([](json&) {}) == "valid");
  CHECK(verdict([](json& c) { c["rollout"].erase("groups"); }) == "config_invalid rollout.groups");
  CHECK(verdict([](json& c) { c.erase("filter"); }) == "config_invalid filter");
  CHECK(verdict("/rollout/grups", 8) == "config_invalid rollout.grups");
  CHECK(verdict("/replays", json::object()) == "config_invalid replays");
  CHECK(verdict("/diagnostics/every", -1) == "config_invalid diagnostics.every");
  CHECK(verdict("/diagnostics/samples", 1) == "config_invalid diagnostics.samples");
  CHECK(verdict("/automatic_action", "rollback") == "valid");
  CHECK(verdict("/automatic_action", "panic") == "config_invalid automatic_action");
  CHECK(verdict("/critic", json::object()) == "config_invalid critic.model");
  CHECK(verdict("/critic/model", "full") == "config_invalid critic.model");
  CHECK(verdict("/advantage/estimator", "gae") == "config_invalid critic.model");
  for (const char* model : {"full", "head"})
    CHECK(verdict([&](json& c) {
            c["advantage"]["estimator"] = "gae";
            c["critic"]["model"] = model;
          }) == "valid");
  CHECK(verdict("/advantage/lambda", 1.1) == "config_invalid advantage.lambda");
  CHECK(verdict("/kl/estimator", "k4") == "config_invalid kl.estimator");
  CHECK(verdict("/kl/coefficient", -0.1) == "config_invalid kl.coefficient");
  CHECK(verdict("/environments/0/config/depth", 3) == "config_invalid environments[0].config.depth");
  CHECK(verdict("/environments/0/config/size", 1) == "config_invalid environments[0].config.size");
  CHECK(verdict("/environments/0/type", "chess") == "config_invalid environments[0].type");
  CHECK(verdict("/environments/0/label", "Frozen Lake") == "config_invalid environments[0].label");
  CHECK(verdict("/environments/0/label", "train") == "config_invalid environments[0].label");
  CHECK(verdict("/rollout_files/keep_last", -1) == "config_invalid rollout_files.keep_last");
  CHECK(verdict("/storage/budget_gigabytes", "1 GB") == "config_invalid storage.budget_gigabytes");
  CHECK(verdict("/environments/0/share", 0) == "config_invalid environments");
  CHECK(verdict("/environments/0/prompt/first", "{stat}") == "config_invalid environments[0].prompt.first");
  CHECK(verdict("/environments/0/prompt/next", "{arm_1}") == "config_invalid environments[0].prompt.next");
  CHECK(verdict("/environments", json::array()) == "config_invalid environments");
  CHECK(verdict("/environments", json::object()) == "config_invalid environments");
  CHECK(verdict("/environments/0", 5) == "config_invalid environments[0]");
  CHECK(verdict("/rollout", "fast") == "config_invalid rollout");
  CHECK(verdict("/rollout/groups", "8") == "config_invalid rollout.groups");
  CHECK(verdict("/rollout/groups", 8.5) == "config_invalid rollout.groups");
  CHECK(verdict("/rollout/groups", 0) == "config_invalid rollout.groups");
  CHECK(verdict("/rollout/groups", 1e300) == "config_invalid rollout.groups");
  CHECK(verdict("/rollout/groups", 8.0) == "valid");
  CHECK(verdict("/rollout/temperature", 0) == "config_invalid rollout.temperature");
  CHECK(verdict("/rollout/temperature", nullptr) == "config_invalid rollout.temperature");
  CHECK(verdict("/rollout/think", 1) == "config_invalid rollout.think");
  CHECK(verdict("/seed", 4294967296) == "config_invalid seed");
  CHECK(verdict("/seed", 4294967295) == "valid");
  for (const char* device : {"auto", "cpu", "cuda", "cuda:0", "cuda:15"}) CHECK(verdict("/device", device) == "valid");
  for (const char* device : {"", "gpu", "cuda:", "cuda:-1", "cuda:100", "cpu,cuda"})
    CHECK(verdict("/device", device) == "config_invalid device");
  CHECK(verdict("/exactness", "fast") == "valid");
  CHECK(verdict("/exactness", "loose") == "config_invalid exactness");
  CHECK(verdict("/optimizer/recompute", "elementwise") == "valid");
  CHECK(verdict("/optimizer/recompute", "all") == "config_invalid optimizer.recompute");
  CHECK(verdict("/preset", "My Preset") == "config_invalid preset");
  CHECK(verdict("/preset", std::string(65, 'a')) == "config_invalid preset");
  CHECK(verdict("/start/sha256", "abc") == "config_invalid start.sha256");
  CHECK(verdict("/start/sha256", std::string(64, 'a')) == "valid");
  CHECK(verdict("/start/model", "") == "config_invalid start.model");
  CHECK(verdict("/policy_loss/dual_clip", 0.5) == "config_invalid policy_loss.dual_clip");
  CHECK(verdict("/correction/high", 0.5) == "config_invalid correction.high");
  CHECK(verdict("/policy_loss/dual_clip", 3) == "valid");
  CHECK(verdict("/policy_loss/mini_batch", 24) == "config_invalid policy_loss.mini_batch");
  CHECK(verdict("/version", newest_run_config_version() + 1) == "config_version_unsupported version");
  CHECK(verdict("/version", 0) == "config_invalid version");
  CHECK(verdict("/version", "1") == "config_invalid version");
  CHECK(verdict([](json& c) { c["environments"].push_back(c["environments"][0]); }) ==
        "config_invalid environments[1].label");
  CHECK(verdict([](json& c) {
          c["task"] = "warm_start";
          for (const char* style : {"plain", "positions", "careful"}) c["warm_start"][style] = 0;
        }) == "config_invalid warm_start");
}

TEST_CASE("run.json is upgraded by a table, with a note for each change") {
  const auto table = json::parse(R"([
    {"to": 2, "changes": [{"path": "levels.count", "set": 0}, {"path": "environments[].label", "rename": "name"}],
     "notes": [{"when": [{"path": "environments[].type", "is": "bandit"}], "text": "bandit"},
               {"when": [{"path": "environments", "longer_than": 1}, {"path": "seed", "above": 3}], "text": "many"}]},
    {"to": 3, "changes": [{"path": "mood", "set": {"calm": true}}], "notes": []}])");
  auto config = json::parse(
      R"({"version": 1, "seed": 4, "levels": {}, "environments": [{"type": "bandit", "label": "a"}, {"label": "b"}]})");
  CHECK(upgrade_run_config(config, table) == std::vector<std::string>{"bandit", "many"});
  CHECK(config == json::parse(R"({"version": 3, "seed": 4, "levels": {"count": 0}, "mood": {"calm": true},
                                  "environments": [{"type": "bandit", "name": "a"}, {"name": "b"}]})"));
  CHECK(upgrade_run_config(config, table).empty());

  // Missing objects and values of a wrong type are unchanged.
  auto damaged = json::parse(R"({"version": 1, "levels": 3, "environments": {}})");
  CHECK(upgrade_run_config(damaged, table).empty());
  CHECK(damaged["levels"] == 3);
  CHECK(error_code_of([&] { parse_run_config(R"({"version": 1, "start": 3, "environments": {}, "rollout": []})"); }) ==
        "config_invalid");
}

TEST_CASE("a fork counts iterations from its parent's checkpoint") {
  const auto from = [](json& c) { c["start"].update({{"run", "a-run"}, {"checkpoint", 50}}); };
  CHECK(verdict(from) == "valid");
  CHECK(verdict([&](json& c) { from(c), c["iterations"] = 50; }) == "config_invalid iterations");
  CHECK(verdict("/start/keep_optimizer", true) == "config_invalid start.keep_optimizer");

  auto config = example();
  config["critic"]["warmup"] = 3;
  CHECK(critic_warmup_end(parse_run_config(config.dump())) == 3);
  from(config);
  CHECK(critic_warmup_end(parse_run_config(config.dump())) == 53);
  config["start"]["keep_optimizer"] = true;
  CHECK(critic_warmup_end(parse_run_config(config.dump())) == 3);
}

TEST_CASE("a configuration of a newer version is reported as such, although its keys are unknown") {
  const json newer{{"version", newest_run_config_version() + 1}, {"something", "new"}};
  CHECK(error_code_of([&] { parse_run_config(newer.dump()); }) == "config_version_unsupported");
}

TEST_CASE("deep nesting is rejected without recursion") {
  const auto deep = std::string(200'000, '[') + std::string(200'000, ']');
  for (const char* pointer : {"/rollout", "/rollout/groups", "/environments/0/config", "/environments/0/config/size"}) {
    auto config = example();
    config[json::json_pointer(pointer)] = "HERE";
    auto text = config.dump();
    text.replace(text.find("\"HERE\""), 6, deep);
    CHECK(error_code_of([&] { parse_run_config(text); }) == "config_invalid");
  }
}

TEST_CASE("files without a configuration are rejected") {
  TemporaryFolder folder;
  const auto code = [&] { return error_code_of([&] { read_run_config(folder.path() / "run.json"); }); };
  CHECK(code() == "config_missing");
  for (const char* text : {"", "{", "[1]", "null", "\xff\xfe"}) {
    write_text(folder.path() / "run.json", text);
    CHECK(code() == "config_unreadable");
  }
  write_text(folder.path() / "run.json", "{}");
  CHECK(code() == "config_invalid");
  CHECK(error_code_of([&] { read_run_config(folder.path()); }) == "config_unreadable");
}

TEST_CASE("truncated sampling is rejected in training, but can be read for evaluations") {
  for (const auto& [pointer, value] :
       std::map<std::string, json>{{"/rollout/top_p", 0.9}, {"/rollout/top_k", 5}, {"/rollout/min_p", 0.1}}) {
    auto config = example();
    config[json::json_pointer(pointer)] = value;
    const auto parsed = parse_run_config(config.dump());
    CHECK(error_code_of([&] { check_trainable(parsed); }) == "config_invalid");
    config["task"] = "warm_start";
    check_trainable(parse_run_config(config.dump()));
  }
}

TEST_CASE("contradictory settings of advantages and rewards are rejected") {
  const auto rejected = [](const std::vector<std::pair<std::string, json>>& changes) {
    auto config = example();
    for (const auto& [pointer, value] : changes) config[json::json_pointer(pointer)] = value;
    return error_code_of([&] { parse_run_config(config.dump()); });
  };
  for (const char* estimator : {"gae", "bi_level_gae", "trajectory_baseline", "turn_baseline"}) {
    CHECK(rejected({{"/advantage/estimator", estimator}, {"/critic/model", "none"}}) == "config_invalid");
    CHECK(rejected({{"/advantage/estimator", estimator}, {"/critic/model", "head"}}) == "none");
  }
  for (const char* estimator : {"grpo", "dr_grpo", "rloo", "loop", "gigpo", "hgpo", "reinforce_plus_plus"}) {
    CHECK(rejected({{"/advantage/estimator", estimator}, {"/critic/model", "none"}}) == "none");
    CHECK(rejected({{"/advantage/estimator", estimator}, {"/critic/model", "head"}}) == "config_invalid");
  }
  CHECK(rejected(
            {{"/advantage/estimator", "gigpo"}, {"/advantage/rewards", "turn"}, {"/reward/normalization", "mean"}}) ==
        "config_invalid");
  CHECK(rejected({{"/advantage/rewards", "turn"}, {"/reward/normalization", "mean"}}) == "none");
  CHECK(rejected({{"/rollout/group_size", 1}, {"/rollout/extra_rounds", 1}}) == "config_invalid");
  CHECK(rejected({{"/rollout/extra_rounds", 1}}) == "none");
  CHECK(rejected({{"/rollout/max_response_tokens", 50}, {"/reward/length_buffer", 51}}) == "config_invalid");
  CHECK(rejected({{"/rollout/max_response_tokens", 50}, {"/reward/length_buffer", 50}}) == "none");
  CHECK(rejected({{"/rollout/group_size", 1}, {"/reward/normalization", "mean"}}) == "config_invalid");
}

TEST_CASE("questionable settings give warnings") {
  const auto warnings = [](const std::string& pointer, const json& value) {
    auto config = example();
    config[json::json_pointer(pointer)] = value;
    return run_config_warnings(parse_run_config(config.dump())).size();
  };
  json small_share = example()["environments"][0];
  small_share.update({{"label", "small"}, {"share", 0.01}});
  CHECK(warnings("/environments/1", small_share) == 1);
  CHECK(warnings("/rollout/group_size", 1) == 1);
  CHECK(warnings("/exactness", "fast") == 1);
  CHECK(warnings("/optimizer/recompute", "block") == 1);
  auto on_gpu = example();
  on_gpu["device"] = "auto";
  on_gpu["exactness"] = "fast";
  on_gpu["optimizer"]["recompute"] = "block";
  CHECK(run_config_warnings(parse_run_config(on_gpu.dump())).empty());
  auto alone = example();
  alone["rollout"]["group_size"] = 1;
  alone["advantage"]["estimator"] = "rloo";  // then its advantage is the score
  CHECK(run_config_warnings(parse_run_config(alone.dump())).empty());
  CHECK(warnings("/optimizer/learning_rate", 0) == 1);
  CHECK(warnings("/rollout/context", 64) == 1);
  auto critic = example();
  critic["rollout"]["group_size"] = 1;  // valid with a critic
  critic["advantage"]["estimator"] = "gae";
  critic["critic"]["model"] = "full";
  CHECK(run_config_warnings(parse_run_config(critic.dump())).empty());
  critic["critic"]["learning_rate"] = 0;
  critic["critic"]["warmup"] = 200;
  CHECK(run_config_warnings(parse_run_config(critic.dump())).size() == 2);
  auto kl = example();
  kl["kl"].update({{"coefficient", 0.1}, {"estimator", "k1"}, {"placement", "loss"}});
  CHECK(run_config_warnings(parse_run_config(kl.dump())).size() == 1);
  kl["kl"]["estimator"] = "k3";
  CHECK(run_config_warnings(parse_run_config(kl.dump())).empty());
}

TEST_CASE("the schema has exactly the keys of the example") {
  const auto schema = json::parse(run_config_schema());
  std::set<std::string> expected, found;
  collect_paths(example(), "", expected);
  for (const auto& field : schema.at("fields")) found.insert(field.at("path"));
  expected.erase("environments[].config");
  for (const auto& key : {"size", "p", "is_slippery", "success_rate", "observation_format"})
    field_of(schema.at("environments").at("frozen-lake"), key);
  found.erase("environments[].config");
  CHECK(found == expected);
  CHECK(schema.at("environments").at("bandit").size() == 6);
}

TEST_CASE("the schema contains types, ranges, choices and patterns") {
  const auto schema = json::parse(run_config_schema());
  const auto& fields = schema.at("fields");
  CHECK(field_of(fields, "rollout.groups") ==
        json{{"path", "rollout.groups"},
             {"type", "integer"},
             {"nullable", false},
             {"minimum", 1},
             {"maximum", 4096},
             {"meaning",
              "Prompts per iteration (P). Each is played by one group of episodes. Higher gives a steadier gradient "
              "and slower iterations. Default 16."}});
  CHECK(field_of(fields, "rollout.temperature") ==
        json{{"path", "rollout.temperature"},
             {"type", "number"},
             {"nullable", false},
             {"minimum", 0.01},
             {"maximum", 10},
             {"meaning", "Sampling temperature for rollouts. Higher is more random. Default 1."}});
  CHECK(field_of(fields, "environments[].type").at("choices") ==
        json{"frozen-lake", "bandit", "sokoban", "webshop", "process"});
  CHECK(field_of(fields, "environments[].label").at("pattern") == "^[a-z0-9-]{1,32}$");
  CHECK(field_of(fields, "rollout.think").at("type") == "boolean");
}
