#include "config/run_config.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "config/upgrade.h"
#include "env/environment.h"
#include "env/registry.h"
#include "fields/field_reader.h"
#include "journal/event_types.h"
#include "journal/metric_names.h"
#include "rollout/prompt.h"

namespace starpo {
namespace {

// Throws config_invalid if a template uses an unknown placeholder.
void check_templates(const EnvironmentConfig& environment, const std::string& path) {
  std::map<std::string, std::string> values;
  for (const char* name :
       {"state", "first_state", "reward", "turn", "actions_left", "max_actions", "max_tokens", "actions"})
    values[name] = "";
  for (const auto& [name, value] : make_environment(environment.type, environment.config)->placeholders())
    values[name] = value;
  fill_template(environment.prompt.first, values, path + ".prompt.first");
  fill_template(environment.prompt.next, values, path + ".prompt.next");
}

// Returns whether later contexts lack a task that only the first state describes.
bool hides_task(const EnvironmentConfig& environment, const RolloutConfig& rollout) {
  return rollout.context_turns > 0 && environment.max_turns > rollout.context_turns &&
         make_environment(environment.type, environment.config)->shows_task_once() &&
         environment.prompt.first.find("{first_state}") == std::string::npos;
}

void reject_newer_version(const nlohmann::json& config) {
  const int newest = newest_run_config_version();
  if (!config.contains("version") || !config["version"].is_number() || config["version"].get<double>() <= newest)
    return;
  throw Error("config_version_unsupported",
              "version: the configuration has version " + config["version"].dump() + ", but this trainer reads up to " +
                  std::to_string(newest),
              "update StarPO Studio to start this run");
}

}  // namespace

void describe(FieldVisitor& v, RunConfig& c) {
  static constexpr std::string_view precisions[] = {"fp32", "bf16"};
  v.integer("version", c.version, newest_run_config_version(), newest_run_config_version());
  v.text("preset", c.preset, {.pattern = "[a-z0-9.-]{1,64}"});
  v.choice("task", c.task, {"reinforce", "warm_start"});
  v.integer("seed", c.seed, 0, kMaxSeed);
  v.text("device", c.device, {.pattern = "(auto|cpu|cuda(:[0-9]{1,2})?)"});
  v.integer("threads", c.threads, 0, 256);
  v.choice("precision", c.precision, precisions);
  v.choice("exactness", c.exactness, {"exact", "fast"});
  v.integer("iterations", c.iterations, 1, 1000000);
  v.section("start", c.start);
  v.section("parent", c.parent);
  v.list("environments", c.environments, 1, 16);
  v.section("rollout", c.rollout);
  v.section("levels", c.levels);
  v.section("reward", c.reward);
  v.section("filter", c.filter);
  v.section("replay", c.replay);
  v.section("advantage", c.advantage);
  v.section("policy_loss", c.policy_loss);
  v.section("correction", c.correction);
  v.section("optimizer", c.optimizer);
  v.section("critic", c.critic);
  v.section("kl", c.kl);
  v.section("evaluation", c.evaluation);
  v.section("checkpoint", c.checkpoint);
  v.section("rollout_files", c.rollout_files);
  v.section("storage", c.storage);
  v.section("warm_start", c.warm_start);
  v.section("early_stop", c.early_stop);
  v.section("diagnostics", c.diagnostics);
  v.choice("automatic_action", c.automatic_action, {"notify", "pause", "stop", "rollback"});

  v.check("task", [&] {
    const bool is_external = std::ranges::any_of(c.environments, [](const auto& e) {
      const EnvironmentType* type = find_environment_type(e.type);
      return type && type->is_external;
    });
    return c.task == Task::warm_start && is_external ? "must be reinforce: a program has no demonstrations" : "";
  });
  for (std::size_t i = 0; i < c.environments.size(); ++i) {
    const auto path = "environments[" + std::to_string(i) + "]";
    // Evaluations with this label would overwrite the training episodes.
    v.check(path + ".label",
            [&] { return c.environments[i].label == "train" ? "is reserved for training episodes" : ""; });
    v.check(path + ".label", [&] {
      const auto same = [&](const auto& other) { return other.label == c.environments[i].label; };
      return std::any_of(c.environments.begin(), c.environments.begin() + i, same)
                 ? "another environment has the same label"
                 : "";
    });
    v.check(path + ".prompt", [&] { return check_templates(c.environments[i], path), ""; });
  }
  v.check("start.keep_optimizer", [&] {
    return c.start.keep_optimizer && c.start.run.empty()
               ? "must be false: start.run is empty, so no optimizer state is available"
               : "";
  });
  v.check("iterations", [&] {
    return !c.start.run.empty() && c.iterations <= c.start.checkpoint
               ? "must be above start.checkpoint, from which iterations continue"
               : "";
  });
  v.check("environments", [&] {
    return std::none_of(c.environments.begin(), c.environments.end(), [](const auto& e) { return e.share > 0; })
               ? "at least one share must be above 0"
               : "";
  });
  v.check("policy_loss.mini_batch", [&] {
    return c.policy_loss.mini_batch % c.rollout.group_size != 0 ? "must be a multiple of rollout.group_size" : "";
  });
  v.check("policy_loss.entropy_tokens", [&] {
    return c.policy_loss.entropy_tokens == EntropyTokens::reasoning && !c.rollout.think
               ? "must be all: rollout.think is false, so no token is reasoning"
               : "";
  });
  v.check("critic.model", [&] {
    const bool has_critic = c.critic.model != CriticModel::none, needs_critic = uses_critic(c.advantage.estimator);
    if (needs_critic && !has_critic) return "must be full or head: this advantage.estimator needs a critic";
    return has_critic && !needs_critic ? "must be none: only advantage.estimator gae, bi_level_gae, "
                                         "trajectory_baseline and turn_baseline use a "
                                         "critic"
                                       : "";
  });
  v.check("reward.normalization",
          [&] { return conflict_with_estimator(c.reward.normalization_config(), c.advantage); });
  v.check("reward.program.directory", [&] {
    return !c.reward.program.command.empty() && c.reward.program.directory.empty()
               ? "must be an absolute folder: reward.program.command runs in it"
               : "";
  });
  v.check("reward.normalize_by", [&] {
    return c.reward.normalization != RewardNormalization::none && c.reward.normalize_by == NormalizationScope::group &&
                   c.rollout.group_size == 1
               ? "must be environment or batch: rollout.group_size is 1, so every normalized reward would be 0"
               : "";
  });
  v.check("reward.length_buffer", [&] {
    return c.reward.length_buffer > c.rollout.max_response_tokens
               ? "must be at most rollout.max_response_tokens, the limit that it precedes"
               : "";
  });
  v.check("warm_start", [&] {
    const auto& w = c.warm_start;
    return c.task == Task::warm_start && w.plain + w.positions + w.careful <= 0
               ? "plain, positions or careful must be above 0"
               : "";
  });
}

LossConfig loss_config(const RunConfig& config) {
  LossConfig loss{config.policy_loss, config.correction, config.kl};
  if (config.kl.placement != KlPlacement::loss) loss.kl.coefficient = 0;
  return loss;
}

int first_iteration(const RunConfig& config) { return config.start.run.empty() ? 0 : config.start.checkpoint; }

int critic_warmup_end(const RunConfig& config) {
  const bool starts_fresh = !config.start.run.empty() && !config.start.keep_optimizer;
  return config.critic.warmup + (starts_fresh ? config.start.checkpoint : 0);
}

RunConfig parse_run_config(std::string_view json) {
  auto object = parse_object(json, "config_unreadable");
  reject_newer_version(object);
  RunConfig config;
  config.changed_since = upgrade_run_config(object);
  read_fields(object, [&](FieldVisitor& visitor) { describe(visitor, config); });
  return config;
}

RunConfig read_run_config(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    throw Error("config_missing", "configuration " + file.string() + " was not found",
                "create the run with `starpo new PRESET`, or check the path");
  const auto unreadable = [&] {
    return Error("config_unreadable", "can't read configuration " + file.string(),
                 "check that it is a file and that you may read it");
  };
  if (!std::filesystem::is_regular_file(file, error)) throw unreadable();
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (!stream || (std::filesystem::file_size(file, error) > 0 && !(text << stream.rdbuf()))) throw unreadable();
  return parse_run_config(text.str());
}

void check_trainable(const RunConfig& config) {
  if (config.task == Task::warm_start) return;
  const auto refuse = [](const std::string& path, const std::string& value) {
    throw Error("config_invalid",
                path + ": must be " + value +
                    " in training: the update uses log-probabilities of the full distribution, so truncated sampling "
                    "would bias it",
                "set " + path + " to " + value);
  };
  if (config.rollout.top_p < 1) refuse("rollout.top_p", "1");
  if (config.rollout.top_k > 0) refuse("rollout.top_k", "0");
  if (config.rollout.min_p > 0) refuse("rollout.min_p", "0");
}

std::vector<std::string> run_config_warnings(const RunConfig& config) {
  std::vector<std::string> warnings = config.changed_since;
  const auto& rollout = config.rollout;
  if (rollout.max_response_tokens >= rollout.context)
    warnings.push_back(
        "rollout.max_response_tokens leaves no room for a prompt in rollout.context, so training ends with "
        "context_too_small");
  if (config.device == "cpu" && config.exactness == Exactness::fast)
    warnings.push_back("exactness fast has no effect on device cpu: the CPU backend is always exact");
  if (config.device == "cpu" && config.optimizer.recompute != Recompute::none)
    warnings.push_back("optimizer.recompute has no effect on device cpu: the CPU backend never recomputes");
  for (std::size_t e = 0; e < config.environments.size(); ++e)
    if (hides_task(config.environments[e], rollout))
      warnings.push_back("rollout.context_turns hides the task of " + config.environments[e].label +
                         ", which only the first state of an episode describes: add {first_state} to environments[" +
                         std::to_string(e) + "].prompt.first");
  if (config.task == Task::warm_start) return warnings;
  const auto groups = groups_by_environment(config.environments, rollout.groups);
  for (std::size_t e = 0; e < groups.size(); ++e)
    if (groups[e] == 0 && config.environments[e].share > 0)
      warnings.push_back("environments[" + std::to_string(e) + "].share rounds to 0 of " +
                         std::to_string(rollout.groups) + " groups: " + config.environments[e].label +
                         " is not trained");
  if (rollout.group_size == 1 && config.advantage.estimator != AdvantageEstimator::rloo &&
      compares_in_group(config.advantage.estimator))
    warnings.push_back("rollout.group_size is 1: advantages compare an episode with its group, so nothing is learned");
  const bool ranks_groups = rollout.group_size > 1 || config.filter.score != FilterScore::reward_std;
  if (config.filter.strategy == FilterStrategy::fraction && config.filter.keep == 0 && ranks_groups)
    warnings.push_back("filter.keep is 0: the filter keeps only one group per environment");
  if (config.optimizer.learning_rate == 0)
    warnings.push_back("optimizer.learning_rate is 0: the policy does not change");
  if (config.critic.model != CriticModel::none && config.critic.learning_rate == 0)
    warnings.push_back(
        "critic.learning_rate is 0: the critic does not change; unless start.keep_optimizer loads one, it predicts 0");
  if (config.critic.model != CriticModel::none && critic_warmup_end(config) >= config.iterations)
    warnings.push_back("critic.warmup lasts until the last iteration: the policy is never trained");
  if (config.kl.coefficient > 0 && config.kl.placement == KlPlacement::loss && config.kl.estimator == KlEstimator::k1)
    warnings.push_back(
        "kl.estimator k1 in the loss has an expected gradient of zero: use k2 or k3, or kl.placement reward");
  return warnings;
}

std::string run_config_schema() {
  using Json = nlohmann::ordered_json;
  RunConfig config;
  Json schema;
  schema["version"] = newest_run_config_version();
  schema["fields"] = Json::parse(fields_as_json([&](FieldVisitor& visitor) { describe(visitor, config); }));
  for (auto& field : schema["fields"]) field["meaning"] = meaning_of_key(field["path"]);
  for (const auto& type : environment_types())
    schema["environments"][std::string(type.name)] = Json::parse(fields_as_json(type.describe_config));
  for (const auto& each : metric::kIterationMetrics) {
    Json described{{"name", each.name}, {"unit", each.unit}, {"meaning", each.meaning}};
    if (metric::has_environment_breakdown(each.name)) described["by_environment"] = true;
    schema["metrics"].push_back(std::move(described));
  }
  for (const auto& each : metric::kEvaluationMetrics)
    schema["evaluation_metrics"].push_back({{"name", each.name}, {"unit", each.unit}, {"meaning", each.meaning}});
  for (const auto& type : event::kTypes) {
    Json fields = Json::array();
    for (const auto& field : type.fields) fields.push_back({{"name", field.name}, {"note", field.note}});
    schema["events"].push_back({{"name", type.name}, {"fields", std::move(fields)}, {"when", type.when}});
  }
  return schema.dump(2);
}

}  // namespace starpo
