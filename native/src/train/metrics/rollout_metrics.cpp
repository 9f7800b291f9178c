#include "train/metrics/rollout_metrics.h"

#include <algorithm>
#include <map>
#include <set>

#include "algorithm/statistics.h"
#include "env/action_name.h"
#include "journal/metric_names.h"
#include "train/metrics/average.h"
#include "train/metrics/episode_metrics.h"
#include "train/metrics/reasoning_metrics.h"

namespace starpo {
namespace {

void add_turn_metrics(std::span<const Episode> episodes, bool think, Metrics& metrics) {
  Average format_valid, action_valid, effective, think_tokens, truncated, state_truncated, entropy, empty_think;
  for (const Episode& episode : episodes) {
    for (const Turn& turn : episode.turns) {
      format_valid.add(turn.format_valid);
      action_valid.add(turn.action_valid);
      truncated.add(turn.truncated);
      if (turn.state_limited) state_truncated.add(turn.omitted_tokens > 0);
      if (think) think_tokens.add(turn.think_tokens);
      if (think && turn.format_valid) empty_think.add(turn.think->empty());
      for (const ExecutedAction& action : turn.executed) effective.add(action.effective);
      for (float value : turn.entropies) entropy.add(value);
    }
  }
  set_average(metrics, metric::kRolloutFormatValidRate, format_valid);
  set_average(metrics, metric::kRolloutActionValidRate, action_valid);
  set_average(metrics, metric::kRolloutActionEffectiveRate, effective);
  set_average(metrics, metric::kRolloutThinkTokens, think_tokens);
  set_average(metrics, metric::kRolloutTruncatedRate, truncated);
  set_average(metrics, metric::kRolloutStateTruncatedRate, state_truncated);
  set_average(metrics, metric::kRolloutEntropy, entropy);
  set_average(metrics, metric::kRolloutEmptyThinkRate, empty_think);
}

void add_reward_terms(std::span<const Episode> episodes, Metrics& metrics) {
  std::map<std::string, double> sums;
  for (const Episode& episode : episodes)
    for (const Turn& turn : episode.turns)
      for (const RewardTerm& term : turn.terms) sums[term.name] += term.value;
  for (const auto& [name, sum] : sums)
    metrics[metric::family_metric(metric::kRolloutRewardTerm, name)] = sum / static_cast<double>(episodes.size());
}

void add_group_metrics(std::span<const Episode> episodes, bool think, Metrics& metrics) {
  Average best, reward_stds, zero, zero_solved, zero_failed, solved, distinct, level_difficulty;
  for (const auto group : groups_of(episodes)) {
    std::vector<double> scores;
    std::set<std::string> reasoning_texts;
    std::size_t successes = 0;
    for (const Episode& episode : group) {
      scores.push_back(episode.score);
      successes += episode.success;
      reasoning_texts.insert(first_reasoning(episode));
    }
    const double deviation = reward_std(scores);
    best.add(*std::max_element(scores.begin(), scores.end()));
    solved.add(successes > 0);
    if (group.front().log_random_success) level_difficulty.add(*group.front().log_random_success);
    if (group.size() == 1) continue;
    reward_stds.add(deviation);
    zero.add(deviation == 0);
    zero_solved.add(deviation == 0 && successes == group.size());
    zero_failed.add(deviation == 0 && successes == 0);
    if (think) distinct.add(static_cast<double>(reasoning_texts.size()) / static_cast<double>(group.size()));
  }
  set_average(metrics, metric::kRolloutRewardMaxInGroup, best);
  set_average(metrics, metric::kRolloutPassAtN, solved);
  set_average(metrics, metric::kRolloutRandomSuccessLogprob, level_difficulty);
  set_average(metrics, metric::kRolloutRewardStdInGroup, reward_stds);
  set_average(metrics, metric::kRolloutZeroStdGroups, zero);
  set_average(metrics, metric::kRolloutZeroStdSolved, zero_solved);
  set_average(metrics, metric::kRolloutZeroStdFailed, zero_failed);
  set_average(metrics, metric::kRolloutDistinctFirstThoughts, distinct);
}

// Adds the in-group reward std due to the choice of action in single-step environments: each score is replaced by the
// mean score of its choice in the rollout, which averages out random payouts.
void add_choice_metric(std::span<const Episode> episodes, Metrics& metrics) {
  using Choice = std::pair<int, std::optional<int>>;  // environment, and action if there was one
  const auto choice = [](const Episode& episode) {
    Choice result{episode.spec.environment, std::nullopt};
    for (const Turn& turn : episode.turns)
      for (const ExecutedAction& action : turn.executed)
        result.second = find_action(action.action, episode.action_names);
    return result;
  };
  std::map<Choice, Average> by_choice;
  for (const Episode& episode : episodes) by_choice[choice(episode)].add(episode.score);
  Average reward_stds;
  for (const auto group : groups_of(episodes)) {
    if (group.size() == 1 || !group.front().single_step) continue;
    std::vector<double> expected;
    for (const Episode& episode : group)
      expected.push_back(by_choice[choice(episode)].sum / static_cast<double>(by_choice[choice(episode)].count));
    reward_stds.add(reward_std(expected));
  }
  set_average(metrics, metric::kRolloutRewardStdByAction, reward_stds);
}

}  // namespace

Metrics rollout_metrics(std::span<const Episode> episodes, bool think) {
  Metrics metrics;
  Average success, reward, turns, actions, tokens;
  for (const Episode& episode : episodes) {
    success.add(episode.success);
    reward.add(episode.score);
    turns.add(static_cast<double>(episode.turns.size()));
    actions.add(episode.executed_actions());
    tokens.add(episode.sampled_tokens());
  }
  set_average(metrics, metric::kRolloutSuccessRate, success);
  set_average(metrics, metric::kRolloutRewardMean, reward);
  set_average(metrics, metric::kRolloutTurns, turns);
  set_average(metrics, metric::kRolloutActions, actions);
  set_average(metrics, metric::kRolloutResponseTokens, tokens);
  add_reward_terms(episodes, metrics);
  add_turn_metrics(episodes, think, metrics);
  add_group_metrics(episodes, think, metrics);
  add_choice_metric(episodes, metrics);
  add_action_metrics(episodes, metrics);
  add_response_metrics(episodes, think, metrics);
  if (think) add_reasoning_metrics(episodes, metrics);
  if (think) add_claim_metrics(episodes, metrics);
  return metrics;
}

Metrics rollout_metrics_by_environment(std::span<const Episode> episodes, const RunConfig& config) {
  Metrics metrics;
  const auto environment_of = [](const Episode& episode) { return episode.spec.environment; };
  // Further rounds (rollout.extra_rounds) begin with the first environment again.
  std::vector<Episode> sorted;
  if (!std::ranges::is_sorted(episodes, {}, environment_of)) {
    sorted.assign(episodes.begin(), episodes.end());
    std::ranges::stable_sort(sorted, {}, environment_of);
    episodes = sorted;
  }
  for (auto start = episodes.begin(); start != episodes.end();) {
    const int environment = environment_of(*start);
    const auto end = std::find_if(start, episodes.end(),
                                  [&](const Episode& episode) { return environment_of(episode) != environment; });
    if (start == episodes.begin() && end == episodes.end()) return {};
    const std::string label = config.environments[environment].label;
    for (const auto& [name, value] : rollout_metrics({start, end}, config.rollout.think))
      metrics[metric::environment_metric(name, label)] = value;
    start = end;
  }
  return metrics;
}

Metrics evaluation_metrics(std::span<const Episode> episodes, const std::string& label) {
  int successes = 0;
  Average reward, turns, tokens, format_valid;
  for (const Episode& episode : episodes) {
    successes += episode.success;
    reward.add(episode.score);
    turns.add(static_cast<double>(episode.turns.size()));
    tokens.add(episode.sampled_tokens());
    for (const Turn& turn : episode.turns) format_valid.add(turn.format_valid);
  }
  const int count = static_cast<int>(episodes.size());
  const Interval interval = wilson_interval(successes, count);
  Metrics metrics;
  const std::string prefix = "evaluation/" + label + "/";
  metrics[prefix + "success_rate"] = static_cast<double>(successes) / count;
  metrics[prefix + "success_rate_low"] = interval.low;
  metrics[prefix + "success_rate_high"] = interval.high;
  set_average(metrics, prefix + "reward_mean", reward);
  set_average(metrics, prefix + "turns", turns);
  set_average(metrics, prefix + "response_tokens", tokens);
  set_average(metrics, prefix + "format_valid_rate", format_valid);
  return metrics;
}

}  // namespace starpo
