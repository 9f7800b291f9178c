#include "config/describe_run_config.h"

#include <algorithm>
#include <map>

#include "env/environment.h"
#include "env/registry.h"
#include "rollout/prompt.h"

namespace starpo {
namespace {

constexpr std::int64_t largest_seed = 4294967295;

// Throws config_invalid where a template uses a placeholder that there isn't.
void check_templates(const EnvironmentConfig& environment, const std::string& path) {
  std::map<std::string, std::string> values;
  for (const char* name : {"state", "reward", "turn", "actions_left", "max_actions", "max_tokens", "actions"}) values[name] = "";
  for (const auto& [name, value] : make_environment(environment.type, environment.config)->placeholders()) values[name] = value;
  fill_template(environment.prompt.first, values, path + ".prompt.first");
  fill_template(environment.prompt.next, values, path + ".prompt.next");
}

}  // namespace

void describe(FieldVisitor& v, StartConfig& c) {
  v.text("model", c.model, {.min_length = 1});
  v.choice("weights", c.weights, {"load", "random"});
  v.text("sha256", c.sha256, {.pattern = "([0-9a-f]{64})?"});
}

void describe(FieldVisitor& v, PromptConfig& c) {
  v.text("system", c.system);
  v.text("first", c.first);
  v.text("next", c.next);
}

void describe(FieldVisitor& v, EnvironmentConfig& c) {
  v.text("label", c.label, {.pattern = "[a-z0-9-]{1,32}"});
  v.choice("type", c.type, environment_type_names());
  v.object("config", c.config, [&](FieldVisitor& keys) { find_environment_type(c.type)->describe_config(keys); });
  v.number("share", c.share, 0, 1);
  v.boolean("validate", c.validate);
  v.choice("noise", c.noise, {"shared", "independent"});
  v.integer("max_turns", c.max_turns, 1, 100);
  v.integer("max_actions_per_turn", c.max_actions_per_turn, 1, 100);
  v.integer("max_actions", c.max_actions, 1, 1000);
  v.section("prompt", c.prompt);
}

void describe(FieldVisitor& v, RolloutConfig& c) {
  v.integer("groups", c.groups, 1, 4096);
  v.integer("group_size", c.group_size, 1, 1024);
  v.integer("slots", c.slots, 1, 65536);
  v.number("temperature", c.temperature, 0.01, 10);
  v.number("top_p", c.top_p, 0.01, 1);
  v.integer("top_k", c.top_k, 0, 1000000);
  v.number("min_p", c.min_p, 0, 1);
  v.integer("max_response_tokens", c.max_response_tokens, 1, 65536);
  v.integer("context", c.context, 16, 1048576);
  v.boolean("think", c.think);
}

void describe(FieldVisitor& v, LevelsConfig& c) {
  v.integer("train_seed", c.train_seed, 0, largest_seed);
  v.integer("validation_seed", c.validation_seed, 0, largest_seed);
  v.integer("pool", c.pool, 0, 1000000000);
}

void describe(FieldVisitor& v, RewardConfig& c) { v.number("format_penalty", c.format_penalty, -100, 0); }

void describe(FieldVisitor& v, FilterConfig& c) {
  v.choice("strategy", c.strategy, {"none", "fraction", "top_p"});
  v.number("keep", c.keep, 0, 1);
}

void describe(FieldVisitor& v, AdvantageConfig& c) {
  v.choice("estimator", c.estimator, {"grpo", "dr_grpo", "rloo", "gae"});
  v.number("gamma", c.gamma, 0, 1);
  v.number("lambda", c.lambda, 0, 1);
  v.boolean("whiten", c.whiten);
}

void describe(FieldVisitor& v, CriticConfig& c) {
  v.choice("model", c.model, {"none", "full", "head"});
  v.number("learning_rate", c.learning_rate, 0, 1);
  v.number("value_clip", c.value_clip, 0, 1000000);
  v.number("gradient_clip", c.gradient_clip, 0, 1000000);
  v.integer("warmup", c.warmup, 0, 1000000);
}

void describe(FieldVisitor& v, KlConfig& c) {
  v.number("coefficient", c.coefficient, 0, 100);
  v.choice("estimator", c.estimator, {"k1", "k2", "k3"});
  v.choice("placement", c.placement, {"reward", "loss"});
  v.text("reference", c.reference);
}

void describe(FieldVisitor& v, PolicyLossConfig& c) {
  v.number("clip_low", c.clip_low, 0, 1);
  v.number("clip_high", c.clip_high, 0, 10);
  v.number("dual_clip", c.dual_clip, 0, 100);
  v.check("dual_clip", [&] { return c.dual_clip > 0 && c.dual_clip < 1 ? "must be 0 (off) or at least 1" : ""; });
  v.number("entropy_coefficient", c.entropy_coefficient, -1, 1);
  v.choice("average", c.average, {"trajectory", "token", "trajectory_sum", "fixed_length"});
  v.integer("mini_batch", c.mini_batch, 1, 65536);
  v.integer("epochs", c.epochs, 1, 100);
}

void describe(FieldVisitor& v, OptimizerConfig& c) {
  v.number("learning_rate", c.learning_rate, 0, 1);
  v.integer("warmup", c.warmup, 0, 1000000);
  v.choice("schedule", c.schedule, {"constant", "linear", "cosine"});
  v.number("beta1", c.beta1, 0, 0.999999);
  v.number("beta2", c.beta2, 0, 0.999999);
  v.number("epsilon", c.epsilon, 1e-12, 1);
  v.number("weight_decay", c.weight_decay, 0, 1);
  v.number("gradient_clip", c.gradient_clip, 0, 1000000);
  v.integer("micro_batch_tokens", c.micro_batch_tokens, 0, 16777216);
  v.choice("recompute", c.recompute, {"none", "elementwise", "block"});
}

void describe(FieldVisitor& v, EvaluationConfig& c) {
  v.integer("every", c.every, 0, 1000000);
  v.integer("levels", c.levels, 1, 65536);
  v.number("temperature", c.temperature, 0.01, 10);
}

void describe(FieldVisitor& v, CheckpointConfig& c) {
  v.integer("every", c.every, 0, 1000000);
  v.integer("keep", c.keep, 1, 100000);
}

void describe(FieldVisitor& v, RolloutFilesConfig& c) {
  v.integer("keep_last", c.keep_last, 0, 1000000);
  v.integer("keep_every", c.keep_every, 0, 1000000);
}

void describe(FieldVisitor& v, StorageConfig& c) { v.number("budget_gigabytes", c.budget_gigabytes, 0, 1000000); }

void describe(FieldVisitor& v, WarmStartConfig& c) {
  v.integer("steps_per_iteration", c.steps_per_iteration, 1, 100000);
  v.integer("batch", c.batch, 1, 4096);
  v.number("plain", c.plain, 0, 1);
  v.number("positions", c.positions, 0, 1);
  v.number("careful", c.careful, 0, 1);
  v.number("mistakes", c.mistakes, 0, 1);
}

void describe(FieldVisitor& v, RunConfig& c) {
  static constexpr std::string_view precisions[] = {"fp32", "bf16"};
  v.integer("version", c.version, 1, 1);
  v.text("preset", c.preset, {.pattern = "[a-z0-9.-]{1,64}"});
  v.choice("task", c.task, {"reinforce", "warm_start"});
  v.integer("seed", c.seed, 0, largest_seed);
  v.text("device", c.device, {.pattern = "(auto|cpu|cuda(:[0-9]{1,2})?)"});
  v.integer("threads", c.threads, 0, 256);
  v.choice("precision", c.precision, precisions);
  v.choice("exactness", c.exactness, {"exact", "fast"});
  v.integer("iterations", c.iterations, 1, 1000000);
  v.section("start", c.start);
  v.list("environments", c.environments, 1, 16);
  v.section("rollout", c.rollout);
  v.section("levels", c.levels);
  v.section("reward", c.reward);
  v.section("filter", c.filter);
  v.section("advantage", c.advantage);
  v.section("policy_loss", c.policy_loss);
  v.section("optimizer", c.optimizer);
  v.section("critic", c.critic);
  v.section("kl", c.kl);
  v.section("evaluation", c.evaluation);
  v.section("checkpoint", c.checkpoint);
  v.section("rollout_files", c.rollout_files);
  v.section("storage", c.storage);
  v.section("warm_start", c.warm_start);

  for (std::size_t i = 0; i < c.environments.size(); ++i) {
    const auto path = "environments[" + std::to_string(i) + "]";
    // Its evaluation would be written over the training episodes.
    v.check(path + ".label", [&] { return c.environments[i].label == "train" ? "is what the training episodes are called" : ""; });
    v.check(path + ".label", [&] {
      const auto same = [&](const auto& other) { return other.label == c.environments[i].label; };
      return std::any_of(c.environments.begin(), c.environments.begin() + i, same) ? "another environment has the same label" : "";
    });
    v.check(path + ".prompt", [&] { return check_templates(c.environments[i], path), ""; });
  }
  v.check("environments", [&] {
    return std::none_of(c.environments.begin(), c.environments.end(), [](const auto& e) { return e.share > 0; }) ? "at least one share must be above 0" : "";
  });
  v.check("policy_loss.mini_batch", [&] { return c.policy_loss.mini_batch % c.rollout.group_size != 0 ? "must be a multiple of rollout.group_size" : ""; });
  v.check("critic.model", [&] {
    const bool has_critic = c.critic.model != CriticModel::none, uses_critic = c.advantage.estimator == AdvantageEstimator::gae;
    if (uses_critic && !has_critic) return "must be full or head: advantage.estimator gae needs a critic";
    return has_critic && !uses_critic ? "must be none: no advantage.estimator but gae uses a critic" : "";
  });
  v.check("warm_start", [&] {
    const auto& w = c.warm_start;
    return c.task == Task::warm_start && w.plain + w.positions + w.careful <= 0 ? "plain, positions and careful are all 0" : "";
  });
}

}  // namespace starpo
