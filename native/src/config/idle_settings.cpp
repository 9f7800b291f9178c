#include "config/idle_settings.h"

#include <algorithm>
#include <string_view>

#include "env/environment.h"

namespace starpo {
namespace {

using Paths = std::vector<std::string_view>;

const Paths filter_paths{"filter.strategy", "filter.keep", "filter.count", "filter.score", "filter.order"};
// Settings without effect while every ratio is 1.
const Paths clip_paths{"policy_loss.objective",         "policy_loss.ratio_level",
                       "policy_loss.clip_low",          "policy_loss.clip_high",
                       "policy_loss.clip_turn_factor",  "policy_loss.dual_clip",
                       "policy_loss.tau_positive",      "policy_loss.tau_negative",
                       "policy_loss.log_ratio_penalty", "policy_loss.likelihood_coefficient",
                       "policy_loss.likelihood_gate"};
const Paths tau_paths{"policy_loss.tau_positive", "policy_loss.tau_negative"};
const Paths correction_paths{"correction.weights",      "correction.level",      "correction.low",  "correction.high",
                             "correction.trust_region", "correction.divergence", "correction.bound"};
const Paths critic_paths{"critic.learning_rate", "critic.value_clip", "critic.gradient_clip", "critic.warmup"};
const Paths program_paths{"reward.program.directory", "reward.program.processes", "reward.program.seconds",
                          "reward.program.weight"};
const Paths kl_paths{"kl.estimator", "kl.placement", "kl.reference"};

class IdleList {
 public:
  void add(const Paths& paths, const std::string& reason) {
    for (const auto path : paths)
      if (std::ranges::find(settings, path, &IdleSetting::path) == settings.end())
        settings.push_back({std::string(path), reason});
  }

  std::vector<IdleSetting> settings;
};

std::string number(std::int64_t value) { return std::to_string(value); }

// Returns the number of groups per environment, without untrained environments.
std::vector<int> trained_groups(const RunConfig& config) {
  auto groups = groups_by_environment(config.environments, config.rollout.groups);
  std::erase(groups, 0);
  return groups;
}

int most_trained_episodes(const RunConfig& config) {
  int groups = 0;
  for (const int own : trained_groups(config)) groups += max_kept_groups(config.filter, own, config.rollout.group_size);
  return groups * config.rollout.group_size;
}

void add_filter(const RunConfig& config, IdleList& idle) {
  const auto& filter = config.filter;
  const auto groups = trained_groups(config);
  const auto keeps_all = [&](int own) { return max_kept_groups(filter, own, config.rollout.group_size) == own; };
  const bool fixed = filter.strategy == FilterStrategy::fraction || filter.strategy == FilterStrategy::top_k;
  if (filter.strategy == FilterStrategy::none)
    idle.add({"filter.keep", "filter.count", "filter.score", "filter.order"},
             "filter.strategy is none: every group is kept");
  if (filter.strategy == FilterStrategy::top_k) idle.add({"filter.keep"}, "filter.strategy is top_k");
  if (filter.strategy != FilterStrategy::top_k) idle.add({"filter.count"}, "filter.strategy is not top_k");
  if (config.rollout.group_size == 1 && filter.score == FilterScore::reward_std)
    idle.add(filter_paths, "rollout.group_size is 1: the reward std of a single episode is 0, so every group is kept");
  else if (fixed && std::ranges::all_of(groups, [](int own) { return own == 1; }))
    idle.add(filter_paths, "each environment has one group per iteration, and the filter keeps at least one");
  else if (fixed && std::ranges::all_of(groups, keeps_all))
    idle.add({"filter.strategy", "filter.score", "filter.order"}, filter.strategy == FilterStrategy::top_k
                                                                      ? "filter.count keeps every group"
                                                                      : "filter.keep keeps every group");
}

void add_early_stop(const RunConfig& config, IdleList& idle) {
  const auto strategy = config.filter.strategy;
  if (strategy == FilterStrategy::none || strategy == FilterStrategy::fraction || strategy == FilterStrategy::top_k)
    idle.add({"early_stop.empty_filters"}, "this filter.strategy always keeps a group");
  else if (config.filter.score != FilterScore::reward_std || config.rollout.group_size == 1)
    idle.add({"early_stop.empty_filters"}, "no group has score 0, so the filter always keeps one");
  if (config.rollout.group_size == 1)
    idle.add({"early_stop.reward_std"}, "rollout.group_size is 1: a single episode has no reward std");
  else if (config.iterations - first_iteration(config) <= 20)
    idle.add({"early_stop.reward_std"},
             "the run has at most 20 iterations: ten set the mean, and the next ten can stop the run at their end");
  // Those after training began, without the one at the end.
  const int every = config.evaluation.every;
  const int evaluations = every == 0 ? 0 : (config.iterations - 1) / every - first_iteration(config) / every;
  if (std::ranges::none_of(config.environments, &EnvironmentConfig::validate))
    idle.add({"early_stop.failed_evaluations"}, "no environment has validate true");
  else if (every == 0)
    idle.add({"early_stop.failed_evaluations"}, "evaluation.every is 0: no evaluation between start and end");
  else if (evaluations < std::max(1, config.early_stop.failed_evaluations))
    idle.add({"early_stop.failed_evaluations"},
             "the number of evaluations between start and end is " + number(evaluations));
}

void add_replay(const RunConfig& config, IdleList& idle) {
  if (config.replay.iterations == 0) idle.add({"replay.share"}, "replay.iterations is 0: no group is replayed");
  if (config.replay.share == 0) idle.add({"replay.iterations"}, "replay.share is 0: no group is replayed");
}

// With one optimizer step per iteration on the policy's own samples, PPO's ratio (arXiv 1707.06347, equation 7) is 1 at
// every token.
void add_clips(const RunConfig& config, IdleList& idle) {
  const auto& loss = config.policy_loss;
  const int episodes = most_trained_episodes(config);
  if (config.optimizer.learning_rate == 0)
    idle.add(clip_paths, "optimizer.learning_rate is 0: the policy does not change");
  if (loss.epochs > 1 || episodes > loss.mini_batch || config.replay.is_active()) return;
  const bool fast = config.device != "cpu" && config.exactness == Exactness::fast;
  const std::string exception = fast ? ", except for the rounding of exactness fast (rollout/logprob_gap)" : "";
  const std::string once = "at most " + number(episodes) +
                           " episodes per iteration fit into one policy_loss.mini_batch of " + number(loss.mini_batch) +
                           " and policy_loss.epochs is 1, so each iteration takes one optimizer step: ";
  idle.add(clip_paths, once + "the ratio is 1 at every token" + exception);
  idle.add({"critic.value_clip"}, once + "the critic's values equal those before the update" + exception);
}

void add_loss(const RunConfig& config, IdleList& idle) {
  const auto& loss = config.policy_loss;
  if (loss.objective == PolicyObjective::sapo)
    idle.add({"policy_loss.clip_low", "policy_loss.clip_high"},
             "policy_loss.objective is sapo, which has no clip range");
  else
    idle.add(tau_paths, "policy_loss.objective is not sapo");
  if (loss.entropy_coefficient == 0)
    idle.add({"policy_loss.entropy_tokens"}, "policy_loss.entropy_coefficient is 0: no token has an entropy bonus");
  if (loss.likelihood_coefficient == 0)
    idle.add({"policy_loss.likelihood_gate"}, "policy_loss.likelihood_coefficient is 0");

  const auto& correction = config.correction;
  if (correction.weights == CorrectionWeights::none)
    idle.add({"correction.level", "correction.low", "correction.high"}, "correction.weights is none");
  if (correction.trust_region == TrustRegion::none)
    idle.add({"correction.divergence", "correction.bound"}, "correction.trust_region is none");
  if (correction.is_active() && !config.replay.is_active() &&
      (config.device == "cpu" || config.exactness == Exactness::exact))
    idle.add(
        correction_paths,
        "rollout and update compute the same log-probabilities on a CPU and with exactness exact: every importance "
        "weight is 1");
}

void add_advantage(const RunConfig& config, IdleList& idle) {
  using Estimator = AdvantageEstimator;
  const Estimator estimator = config.advantage.estimator;
  const auto is_any = [&](std::initializer_list<Estimator> all) {
    return std::ranges::find(all, estimator) != all.end();
  };
  const bool penalized = config.kl.coefficient > 0 && config.kl.placement == KlPlacement::reward;
  const bool discounts_tokens = is_any({Estimator::gae, Estimator::bi_level_gae, Estimator::reinforce_plus_plus});
  const bool sums_tokens = is_any({Estimator::trajectory_baseline, Estimator::turn_baseline});
  if (!is_any({Estimator::gae, Estimator::bi_level_gae, Estimator::turn_baseline}))
    idle.add({"advantage.lambda"}, "only advantage.estimator gae, bi_level_gae and turn_baseline use it");
  if (sums_tokens)
    idle.add({"advantage.gamma"}, "this advantage.estimator sums KL rewards without a discount per token");
  else if (!discounts_tokens && !penalized)
    idle.add({"advantage.gamma"},
             "this advantage.estimator has no rewards per token and the reward has no KL term: nothing is discounted "
             "over time");
  if (!is_any({Estimator::bi_level_gae, Estimator::turn_baseline, Estimator::gigpo, Estimator::hgpo}))
    idle.add({"advantage.turn_gamma"}, "only advantage.estimator bi_level_gae, turn_baseline, gigpo and hgpo use it");
  if (!is_any({Estimator::gigpo, Estimator::hgpo}))
    idle.add({"advantage.scale_by_std"}, "only advantage.estimator gigpo and hgpo use it");
  if (estimator != Estimator::gigpo) idle.add({"advantage.step_weight"}, "advantage.estimator is not gigpo");
  if (estimator != Estimator::hgpo)
    idle.add({"advantage.history", "advantage.history_exponent", "advantage.episode_term"},
             "advantage.estimator is not hgpo");
  if (!reads_turn_rewards(estimator))
    idle.add({"advantage.rewards"}, "this advantage.estimator uses the episode's score alone");
  if (config.reward.normalization == RewardNormalization::none)
    idle.add({"reward.normalize_by", "reward.normalize_terms"}, "reward.normalization is none");
  if (config.reward.normalization == RewardNormalization::mean)
    idle.add({"reward.normalize_terms"},
             "reward.normalization is mean: the centered terms add up to the centered score");
  if (!config.advantage.whiten) idle.add({"advantage.whiten_over"}, "advantage.whiten is false");
  const auto average = config.policy_loss.average;
  if (estimator == Estimator::dr_grpo && average != LossAverage::fixed_length && average != LossAverage::trajectory_sum)
    idle.add({"advantage.estimator"},
             "dr_grpo removes the length bias only with policy_loss.average fixed_length or trajectory_sum: here, the "
             "weight of a token depends on the number of tokens in its episode or mini-batch");
}

void add_rewards(const RunConfig& config, IdleList& idle) {
  if (config.reward.length_cost == 0) idle.add({"reward.length_buffer"}, "reward.length_cost is 0");
  if (config.reward.program.command.empty())
    idle.add(program_paths, "reward.program.command is empty");
  else if (!config.reward.program.runs())
    idle.add(program_paths, "reward.program.weight is 0: the program does not run");
  const Paths claims{"reward.grounding_weight", "reward.faithfulness_weight"};
  if (!config.rollout.think) idle.add(claims, "rollout.think is false: responses have no reasoning");
  if (std::ranges::none_of(config.environments, [](const EnvironmentConfig& environment) {
        return make_environment(environment.type, environment.config)->has_claim_rules();
      }))
    idle.add(claims, "no environment has rules that check claims");
}

void add_critic(const RunConfig& config, IdleList& idle) {
  if (config.critic.model == CriticModel::none)
    idle.add(critic_paths, "critic.model is none");
  else if (config.critic.learning_rate == 0)
    idle.add({"critic.value_clip", "critic.gradient_clip"}, "critic.learning_rate is 0: the critic does not change");
}

void add_optimizer(const RunConfig& config, IdleList& idle) {
  const bool critic_learns = config.critic.model != CriticModel::none && config.critic.learning_rate > 0;
  const bool warms_up = config.critic.model != CriticModel::none && critic_warmup_end(config) >= config.iterations;
  if (warms_up) {
    const std::string reason = "critic.warmup lasts until the last iteration: the policy is never trained";
    idle.add({"optimizer.learning_rate", "optimizer.gradient_clip", "policy_loss.entropy_coefficient",
              "policy_loss.entropy_tokens", "policy_loss.cross_entropy_coefficient", "policy_loss.average"},
             reason);
    idle.add(clip_paths, reason);
    idle.add(correction_paths, reason);
  }
  if (config.optimizer.learning_rate > 0) return;
  const std::string reason = "optimizer.learning_rate is 0: the policy does not change";
  idle.add({"optimizer.gradient_clip", "policy_loss.entropy_coefficient", "policy_loss.entropy_tokens",
            "policy_loss.cross_entropy_coefficient", "policy_loss.average"},
           reason);
  idle.add(correction_paths, reason);
  if (!critic_learns)
    idle.add({"optimizer.warmup", "optimizer.schedule", "optimizer.beta1", "optimizer.beta2", "optimizer.epsilon",
              "optimizer.weight_decay"},
             reason);
}

void add_rollout(const RunConfig& config, IdleList& idle) {
  const std::int64_t levels =
      static_cast<std::int64_t>(config.iterations) * (config.rollout.extra_rounds + 1) * config.rollout.groups;
  if (config.levels.pool >= levels)
    idle.add({"levels.pool"}, "the number of training levels is " + number(levels) + ": no level repeats");
  if (config.rollout_files.keep_last == 0)
    idle.add({"rollout_files.keep_every"}, "rollout_files.keep_last is 0: all episodes are kept");
}

// Adds the settings of reinforcement learning, which a warm start does not use.
void add_reinforcement(IdleList& idle) {
  const std::string reason = "task is warm_start: the policy learns from solver demonstrations, without rollouts";
  idle.add({"rollout.groups", "rollout.group_size", "rollout.extra_rounds", "rollout.temperature", "levels.pool"},
           reason);
  idle.add(filter_paths, reason);
  idle.add({"reward.normalization", "reward.normalize_by", "reward.normalize_terms", "reward.environment_weight",
            "reward.step_cost", "reward.success_bonus", "reward.length_cost", "reward.length_buffer",
            "reward.grounding_weight", "reward.faithfulness_weight", "reward.program.command"},
           reason);
  idle.add(program_paths, reason);
  idle.add({"advantage.estimator", "advantage.gamma", "advantage.lambda", "advantage.whiten", "advantage.whiten_over",
            "advantage.rewards", "advantage.turn_gamma", "advantage.scale_by_std", "advantage.step_weight",
            "advantage.history", "advantage.history_exponent", "advantage.episode_term", "advantage.gate"},
           reason);
  idle.add(clip_paths, reason);
  idle.add({"policy_loss.entropy_coefficient", "policy_loss.entropy_tokens", "policy_loss.cross_entropy_coefficient",
            "policy_loss.average", "policy_loss.mini_batch", "policy_loss.epochs"},
           reason);
  idle.add(correction_paths, reason);
  idle.add({"replay.iterations", "replay.share"}, reason);
  idle.add({"critic.model"}, reason);
  idle.add(critic_paths, reason);
  idle.add({"kl.coefficient"}, reason);
  idle.add(kl_paths, reason);
  idle.add({"rollout_files.keep_last", "rollout_files.keep_every"}, reason);
  idle.add({"diagnostics.every", "diagnostics.samples", "diagnostics.probe", "automatic_action"}, reason);
  idle.add({"early_stop.reward_std", "early_stop.failed_evaluations", "early_stop.empty_filters"}, reason);
}

void add_environments(const RunConfig& config, IdleList& idle) {
  for (std::size_t i = 0; i < config.environments.size(); ++i) {
    const auto& environment = config.environments[i];
    const auto path = "environments[" + std::to_string(i) + "]";
    const auto instance = make_environment(environment.type, environment.config);
    if (!instance->is_stochastic()) idle.add({path + ".noise"}, "this environment is deterministic");
    for (const auto& [key, reason] : instance->idle_keys()) idle.add({path + ".config." + key}, reason);
    if (environment.max_turns == 1)
      idle.add({path + ".prompt.next"}, path + ".max_turns is 1: an episode has no second turn");
    if (config.rollout.context_turns == 1)
      idle.add({path + ".prompt.next"}, "rollout.context_turns is 1: every context begins with prompt.first");
  }
  const int turns = config.rollout.context_turns;
  if (turns > 0 && std::ranges::all_of(config.environments, [&](const EnvironmentConfig& environment) {
        return environment.max_turns <= turns;
      }))
    idle.add({"rollout.context_turns"}, "no environment allows more turns, so a context contains the whole episode");
  if (config.environments.size() == 1) idle.add({"environments[0].share"}, "the only environment gets every group");
  if (std::ranges::none_of(config.environments, &EnvironmentConfig::validate))
    idle.add({"evaluation.every"}, "no environment has validate true");
}

void add_device(const RunConfig& config, IdleList& idle) {
  if (config.device == "cpu") idle.add({"exactness"}, "device is cpu: the CPU backend is always exact");
  if (config.device == "cpu") idle.add({"optimizer.recompute"}, "device is cpu: the CPU backend never recomputes");
}

}  // namespace

std::vector<IdleSetting> idle_settings(const RunConfig& config) {
  IdleList idle;
  if (config.task == Task::warm_start) {
    add_reinforcement(idle);
  } else {
    add_filter(config, idle);
    add_early_stop(config, idle);
    add_replay(config, idle);
    add_rewards(config, idle);
    add_critic(config, idle);
    add_clips(config, idle);
    add_loss(config, idle);
    add_advantage(config, idle);
    if (config.kl.coefficient == 0) idle.add(kl_paths, "kl.coefficient is 0: no KL divergence is estimated");
    add_optimizer(config, idle);
    add_rollout(config, idle);
    if (config.diagnostics.every == 0)
      idle.add({"diagnostics.samples", "diagnostics.probe"}, "diagnostics.every is 0: diagnostics are off");
    else if (!config.rollout.think)
      idle.add({"diagnostics.probe"}, "rollout.think is false: responses have no reasoning");
    idle.add({"warm_start.steps_per_iteration", "warm_start.batch", "warm_start.plain", "warm_start.positions",
              "warm_start.careful", "warm_start.mistakes"},
             "task is reinforce");
  }
  add_environments(config, idle);
  add_device(config, idle);
  return idle.settings;
}

}  // namespace starpo
