#include "train/first_step/first_step_check.h"

#include <limits>
#include <string_view>

#include "journal/metric_names.h"

namespace starpo {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
constexpr double kSmallest = std::numeric_limits<double>::min();  // as `low`: the value must exceed 0

// The usual range, and the bounds at and beyond which a value is wrong.
struct Limits {
  double low, high;
  double wrong_low = -kUnlimited, wrong_high = kUnlimited;
};

struct Advice {
  std::string message, setting;
};

struct Name {
  const char *name, *title, *unit;
};

std::optional<double> find(const Metrics& metrics, std::string_view name) {
  const auto found = metrics.find(std::string(name));
  return found == metrics.end() ? std::nullopt : std::optional(found->second);
}

class CheckList {
 public:
  void add(const Name& name, std::optional<double> value, const Limits& limits, const std::string& meaning,
           const Advice& below, const Advice& above) {
    if (!value) return;
    const double low = limits.low == kSmallest ? 0 : limits.low;
    FirstStepCheck check{name.name, name.title, name.unit, value, low, limits.high, Verdict::ok, meaning, ""};
    if (!(*value >= limits.low && *value <= limits.high)) {
      const bool wrong = !(*value > limits.wrong_low && *value < limits.wrong_high);
      const Advice& advice = *value < limits.low ? below : above;
      check.verdict = wrong ? Verdict::wrong : Verdict::suspicious;
      check.message = advice.message;
      check.setting = advice.setting;
    }
    checks.push_back(std::move(check));
  }

  std::vector<FirstStepCheck> checks;
};

// An entropy below this means that almost every token is certain.
constexpr double kLowEntropy = 0.01;

// Below this change, fp32 rounding keeps all weights that aren't near zero.
constexpr double kFrozen = 1e-9;

// Returns why the rewards of (almost) all groups are equal.
Advice equal_rewards_advice(const Metrics& metrics) {
  const std::string effect = "Almost all groups have equal rewards, so they give no learning signal. ";
  if (find(metrics, metric::kRolloutTruncatedRate).value_or(0) > 0.9)
    return {effect + "Most responses are truncated before the action.", "rollout.max_response_tokens"};
  if (find(metrics, metric::kRolloutEntropy).value_or(1) < kLowEntropy)
    return {effect + "The rollouts of a group are copies of each other.", "rollout.temperature"};
  if (find(metrics, metric::kRolloutFormatValidRate).value_or(1) < 0.05)
    return {effect + "Almost no response is valid.", "environments.0.prompt.first"};
  if (find(metrics, metric::kRolloutZeroStdSolved).value_or(0) > 0.5)
    return {effect + "Most succeed: use harder levels or allow fewer actions.", "environments.0.max_actions"};
  if (find(metrics, metric::kRolloutZeroStdFailed).value_or(0) > 0.5)
    return {effect + "Most fail: use easier levels or a model that sometimes succeeds.", "start.model"};
  return {effect + "Check that the environment's reward depends on the actions.", "rollout.group_size"};
}

void add_gradient_norm(const Metrics& metrics, CheckList& list) {
  const Name name{"gradient_norm", "Gradient norm", ""};
  if (find(metrics, metric::kFilterKeptGroups) == 0.0)
    list.checks.push_back({name.name, name.title, name.unit, std::nullopt, 0, 0, Verdict::wrong,
                           "No group was kept, so no update was made.", "filter.strategy"});
  list.add(name, find(metrics, metric::kActorGradNorm), {kSmallest, 1000, 0}, "The loss has a gradient.",
           {"The gradient is zero, because no advantage differs from zero.", "rollout.group_size"},
           {"The gradient is very large. optimizer.gradient_clip limits the step; 0 turns it off.",
            "optimizer.gradient_clip"});
}

void add_logprob_gap(const RunConfig& config, const Metrics& metrics, CheckList& list) {
  const bool exact = config.exactness == Exactness::exact;
  list.add({"logprob_gap", "Log-probability gap", "nats"}, find(metrics, metric::kRolloutLogprobGap),
           {0, exact ? 1e-6 : 0.05, -kUnlimited, 0.5}, "Rollout and update compute the same probabilities.", {},
           {"Rollout and update compute different probabilities for the same tokens, so the update trains the wrong "
            "tokens or its precision is too low.",
            exact ? "precision" : "exactness"});
}

// Returns why (almost) no token is trained.
Advice untrained_advice(const RunConfig& config) {
  if (config.rollout.context_turns > 1)
    return {"Almost no token is trained: every context repeats earlier turns.", "rollout.context_turns"};
  return {"Almost no token is trained: the prompts are much longer than the responses.", "environments.0.prompt.first"};
}

void add_rollout(const RunConfig& config, const FirstStepMeasurements& measured, const Metrics& metrics,
                 CheckList& list) {
  list.add(
      {"trained_tokens", "Trained tokens", "share"}, measured.trained_tokens, {0.01, 0.99, 0, 1},
      "The update trains the sampled tokens and masks the prompts.", untrained_advice(config),
      {"Almost every token is trained: the prompts are missing or masked wrongly.", "environments.0.prompt.first"});
  list.add({"equal_rewards", "Groups with equal rewards", "share"}, find(metrics, metric::kRolloutZeroStdGroups),
           {0, 0.9, -kUnlimited, 1}, "Rewards differ within some groups.", {}, equal_rewards_advice(metrics));
  list.add({"truncated_responses", "Truncated responses", "share"}, find(metrics, metric::kRolloutTruncatedRate),
           {0, 0.2, -kUnlimited, 0.8}, "Most responses end before the token limit.", {},
           {"Many responses reach the token limit. Those cut off before </answer> have no actions.",
            "rollout.max_response_tokens"});
  list.add({"valid_responses", "Valid responses", "share"}, find(metrics, metric::kRolloutFormatValidRate),
           {0.5, 1, 0.05}, "The model answers in the required format.",
           {"The model doesn't answer in the required format. Check that it was trained with this chat template and "
            "that the prompt describes the format.",
            "environments.0.prompt.first"},
           {});
  list.add({"sampling_entropy", "Sampling entropy", "nats"}, find(metrics, metric::kRolloutEntropy),
           {kLowEntropy, kUnlimited, 0.001}, "The rollouts explore.",
           {"Sampling is almost deterministic, so the rollouts of a group hardly differ.", "rollout.temperature"}, {});
}

// A step KL of 0.01 to 0.05 is the usual target of PPO. AdamW's first step changes each weight by the learning rate, so
// its ratio to the weights is near 1e-3 for a small model and 1e-5 for a language model.
void add_step(const RunConfig& config, const Metrics& metrics, const FirstStepMeasurements& measured, CheckList& list) {
  // While the learning rate warms up, the first step is small on purpose.
  const bool warms_up = find(metrics, metric::kActorLearningRate).value_or(0) < 0.9 * config.optimizer.learning_rate;
  const Advice small{"The step hardly changes the policy. The learning rate may be too low.",
                     "optimizer.learning_rate"};
  const Advice large{"The step changes the policy too much. The learning rate may be too high.",
                     "optimizer.learning_rate"};
  list.add({"step_kl", "KL of the step", "nats"}, measured.kl, {warms_up ? 0 : 1e-9, 0.05, -kUnlimited, 1},
           "The policy changes a little.", small, large);
  list.add(
      {"update_ratio", "Update-to-weight ratio", ""}, measured.update_ratio,
      {warms_up ? kSmallest : 5e-6, 0.02, warms_up ? 0 : kFrozen, 0.1}, "The weights change a little.",
      {measured.update_ratio <= kFrozen ? "The weights didn't change: the learning rate is zero or lost in rounding."
                                        : "The weights hardly change. The learning rate may be too low.",
       "optimizer.learning_rate"},
      {"The weights change too much. The learning rate may be too high.", "optimizer.learning_rate"});
}

}  // namespace

std::vector<FirstStepCheck> first_step_check(const RunConfig& config, const Metrics& metrics,
                                             const FirstStepMeasurements& measured) {
  CheckList list;
  add_gradient_norm(metrics, list);
  add_logprob_gap(config, metrics, list);
  add_rollout(config, measured, metrics, list);
  if (find(metrics, metric::kActorGradNorm)) add_step(config, metrics, measured, list);  // else only the critic trained
  return std::move(list.checks);
}

}  // namespace starpo
