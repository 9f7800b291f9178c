#include "train/metrics/rollout_metrics.h"

#include <algorithm>
#include <map>
#include <set>

#include "algorithm/statistics.h"
#include "env/action_name.h"
#include "journal/metric_names.h"
#include "train/metrics/average.h"
#include "train/metrics/episode_metrics.h"
#include "train/metrics/thoughts.h"

namespace starpo {
namespace {

void add_turn_metrics(std::span<const Episode> episodes, bool think, Metrics& metrics) {
  Average format_valid, action_valid, effective, think_tokens, truncated, entropy, empty_think;
  for (const Episode& episode : episodes) {
    for (const Turn& turn : episode.turns) {
      format_valid.add(turn.format_valid);
      action_valid.add(turn.action_valid);
      truncated.add(turn.truncated);
      if (think) think_tokens.add(turn.think_tokens);
      if (think && turn.format_valid) empty_think.add(turn.think->empty());
      for (const ExecutedAction& action : turn.executed) effective.add(action.effective);
      for (float value : turn.entropies) entropy.add(value);
    }
  }
  set_average(metrics, metric::rollout_format_valid_rate, format_valid);
  set_average(metrics, metric::rollout_action_valid_rate, action_valid);
  set_average(metrics, metric::rollout_action_effective_rate, effective);
  set_average(metrics, metric::rollout_think_tokens, think_tokens);
  set_average(metrics, metric::rollout_truncated_rate, truncated);
  set_average(metrics, metric::rollout_entropy, entropy);
  set_average(metrics, metric::rollout_empty_think_rate, empty_think);
}

void add_group_metrics(std::span<const Episode> episodes, bool think, Metrics& metrics) {
  Average best, spread, zero, zero_solved, zero_failed, solved, distinct, ease;
  for (const auto group : groups_of(episodes)) {
    std::vector<double> scores;
    std::set<std::string> thoughts;
    std::size_t successes = 0;
    for (const Episode& episode : group) {
      scores.push_back(episode.score);
      successes += episode.success;
      thoughts.insert(first_thought(episode));
    }
    const double deviation = score_spread(scores);
    best.add(*std::max_element(scores.begin(), scores.end()));
    solved.add(successes > 0);
    if (group.front().ease) ease.add(*group.front().ease);
    if (group.size() == 1) continue;
    spread.add(deviation);
    zero.add(deviation == 0);
    zero_solved.add(deviation == 0 && successes == group.size());
    zero_failed.add(deviation == 0 && successes == 0);
    if (think) distinct.add(static_cast<double>(thoughts.size()) / static_cast<double>(group.size()));
  }
  set_average(metrics, metric::rollout_reward_max_in_group, best);
  set_average(metrics, metric::rollout_pass_at_n, solved);
  set_average(metrics, metric::rollout_level_ease, ease);
  set_average(metrics, metric::rollout_reward_std_in_group, spread);
  set_average(metrics, metric::rollout_zero_std_groups, zero);
  set_average(metrics, metric::rollout_zero_std_solved, zero_solved);
  set_average(metrics, metric::rollout_zero_std_failed, zero_failed);
  set_average(metrics, metric::rollout_distinct_first_thoughts, distinct);
}

// How far the choice of an arm alone spreads a group's scores: each score is replaced by the mean of the rollout's
// scores for that choice, in which luck averages out. A group whose members all pulled one arm has none, however their
// payouts differ.
void add_choice_metric(std::span<const Episode> episodes, Metrics& metrics) {
  using Choice = std::pair<int, std::optional<int>>;  // environment, and arm where one was pulled
  const auto choice = [](const Episode& episode) {
    Choice made{episode.spec.environment, std::nullopt};
    for (const Turn& turn : episode.turns)
      for (const ExecutedAction& action : turn.executed) made.second = find_action(action.action, episode.arms);
    return made;
  };
  std::map<Choice, Average> by_choice;
  for (const Episode& episode : episodes) by_choice[choice(episode)].add(episode.score);
  Average spread;
  for (const auto group : groups_of(episodes)) {
    if (group.size() == 1 || group.front().arms.empty()) continue;
    std::vector<double> expected;
    for (const Episode& episode : group)
      expected.push_back(by_choice[choice(episode)].sum / static_cast<double>(by_choice[choice(episode)].count));
    spread.add(score_spread(expected));
  }
  set_average(metrics, metric::rollout_reward_std_by_action, spread);
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
  set_average(metrics, metric::rollout_success_rate, success);
  set_average(metrics, metric::rollout_reward_mean, reward);
  set_average(metrics, metric::rollout_turns, turns);
  set_average(metrics, metric::rollout_actions, actions);
  set_average(metrics, metric::rollout_response_tokens, tokens);
  add_turn_metrics(episodes, think, metrics);
  add_group_metrics(episodes, think, metrics);
  add_choice_metric(episodes, metrics);
  add_action_metrics(episodes, metrics);
  add_reply_metrics(episodes, think, metrics);
  if (think) add_thought_metrics(episodes, metrics);
  return metrics;
}

Metrics rollout_metrics_by_environment(std::span<const Episode> episodes, const RunConfig& config) {
  Metrics metrics;
  const auto environment_of = [](const Episode& episode) { return episode.spec.environment; };
  // Groups of one environment stand together.
  for (auto start = episodes.begin(); start != episodes.end();) {
    const int environment = environment_of(*start);
    const auto end = std::find_if(start, episodes.end(),
                                  [&](const Episode& episode) { return environment_of(episode) != environment; });
    if (start == episodes.begin() && end == episodes.end()) return {};
    const std::string label = config.environments[environment].label;
    for (const auto& [name, value] : rollout_metrics({start, end}, config.rollout.think))
      metrics[metric::of_environment(name, label)] = value;
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
