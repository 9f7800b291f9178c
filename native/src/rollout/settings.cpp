#include "rollout/settings.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "env/registry.h"
#include "fields/field_visitor.h"

namespace starpo {

std::vector<int> groups_by_environment(std::span<const EnvironmentConfig> environments, int groups) {
  double total = 0;
  for (const auto& environment : environments) total += environment.share;

  std::vector<int> result;
  std::vector<double> remainders;
  for (const auto& environment : environments) {
    const double exact = groups * environment.share / total;
    result.push_back(static_cast<int>(std::floor(exact)));
    remainders.push_back(exact - std::floor(exact));
  }
  std::vector<std::size_t> order(result.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  int missing = groups - std::accumulate(result.begin(), result.end(), 0);
  for (std::size_t i = 0; i < order.size() && missing > 0; ++i, --missing) ++result[order[i]];
  return result;
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
  v.text("files_sha256", c.files_sha256, {.pattern = "([0-9a-f]{64})?"});
  v.number("share", c.share, 0, 1);
  v.boolean("validate", c.validate);
  v.choice("noise", c.noise, {"shared", "independent", "reference"});
  v.integer("max_state_tokens", c.max_state_tokens, 0, 1048576);
  v.integer("max_turns", c.max_turns, 1, 100);
  v.integer("max_actions_per_turn", c.max_actions_per_turn, 1, 100);
  v.integer("max_actions", c.max_actions, 1, 1000);
  v.section("prompt", c.prompt);
}

void describe(FieldVisitor& v, RolloutConfig& c) {
  v.integer("groups", c.groups, 1, 4096);
  v.integer("group_size", c.group_size, 1, 1024);
  v.integer("extra_rounds", c.extra_rounds, 0, 100);
  v.check("extra_rounds", [&] {
    return c.extra_rounds > 0 && c.group_size == 1
               ? "must be 0: groups of one episode have no reward std. Raise rollout.group_size"
               : "";
  });
  v.integer("slots", c.slots, 1, 65536);
  v.number("temperature", c.temperature, 0.01, 10);
  v.number("top_p", c.top_p, 0.01, 1);
  v.integer("top_k", c.top_k, 0, 1000000);
  v.number("min_p", c.min_p, 0, 1);
  v.integer("max_response_tokens", c.max_response_tokens, 1, 65536);
  v.integer("context", c.context, 16, 1048576);
  v.integer("context_turns", c.context_turns, 0, 100);
  v.boolean("think", c.think);
}

void describe(FieldVisitor& v, LevelsConfig& c) {
  v.integer("train_seed", c.train_seed, 0, kMaxSeed);
  v.integer("validation_seed", c.validation_seed, 0, kMaxSeed);
  v.integer("pool", c.pool, 0, 1000000000);
}

void describe(FieldVisitor& v, RewardProgramConfig& c) {
  v.text("command", c.command, {.max_length = 4096});
  v.text("directory", c.directory, {.pattern = "(/[^\\n]*)?", .max_length = 256});
  v.integer("processes", c.processes, 1, 256);
  v.number("seconds", c.seconds, 0.1, 86400);
  v.number("weight", c.weight, 0, 100);
}

void describe(FieldVisitor& v, RewardConfig& c) {
  v.number("environment_weight", c.environment_weight, 0, 100);
  v.number("format_penalty", c.format_penalty, -100, 0);
  v.number("step_cost", c.step_cost, 0, 100);
  v.number("success_bonus", c.success_bonus, 0, 100);
  v.number("length_cost", c.length_cost, 0, 100);
  v.integer("length_buffer", c.length_buffer, 0, 65536);
  v.number("grounding_weight", c.grounding_weight, 0, 100);
  v.number("faithfulness_weight", c.faithfulness_weight, 0, 100);
  v.choice("normalization", c.normalization, {"none", "mean", "mean_std", "asymmetric_clip"});
  v.choice("normalize_by", c.normalize_by, {"group", "environment", "batch"});
  v.boolean("normalize_terms", c.normalize_terms);
  v.section("program", c.program);
}

}  // namespace starpo
