#include <algorithm>
#include <cmath>
#include <map>

#include "algorithm/estimators.h"
#include "algorithm/statistics.h"

namespace starpo {
namespace {

using ByTurn = std::vector<std::vector<double>>;  // [episodes][turns]

struct Step {
  std::size_t episode, turn;
};

// Returns the return from each turn on, discounted per turn.
ByTurn step_returns(std::span<const EpisodeRewards> episodes, const AdvantageConfig& config) {
  ByTurn returns;
  for (const auto& episode : episodes) {
    const auto rewards = turn_rewards(episode, config.rewards);
    returns_to_go(rewards, config.turn_gamma, returns.emplace_back(rewards.size()));
  }
  return returns;
}

// Returns the differences from the mean, divided by the standard deviation if `scaled`. Equal values and single values
// give exactly 0.
std::vector<double> centered(std::span<const double> values, bool scaled, bool population) {
  std::vector<double> result(values.size());
  const double deviation = reward_std(values);
  if (deviation == 0) return result;
  const double center = mean(values), count = static_cast<double>(values.size());
  const double scale = population ? deviation * std::sqrt((count - 1) / count) : deviation;
  for (std::size_t i = 0; i < values.size(); ++i) result[i] = (values[i] - center) / (scaled ? scale + kStdEpsilon : 1);
  return result;
}

// Calls `add` with each step of a group and its centered return among the steps with the same `depth` last states.
template <class Add>
void compare_steps(std::span<const EpisodeRewards> episodes, const std::vector<std::size_t>& group,
                   const ByTurn& returns, std::size_t depth, bool scaled, bool population, const Add& add) {
  std::map<std::vector<std::string>, std::vector<Step>> clusters;
  for (const std::size_t i : group) {
    const auto& turns = episodes[i].turns;
    for (std::size_t k = depth - 1; k < turns.size(); ++k) {
      std::vector<std::string> states;
      for (std::size_t back = 0; back < depth; ++back) states.push_back(turns[k - back].state);
      clusters[states].push_back({i, k});
    }
  }
  for (const auto& [states, steps] : clusters) {
    std::vector<double> own;
    for (const auto [episode, turn] : steps) own.push_back(returns[episode][turn]);
    const auto advantages = centered(own, scaled, population);
    for (std::size_t j = 0; j < steps.size(); ++j) add(steps[j], advantages[j]);
  }
}

}  // namespace

ByTurn gigpo(std::span<const EpisodeRewards> episodes, const AdvantageConfig& config) {
  const auto returns = step_returns(episodes, config);
  ByTurn advantages(episodes.size());
  for (const auto& group : indices_by_group(episodes)) {
    std::vector<double> scores;
    for (const std::size_t i : group) scores.push_back(episodes[i].score());
    const auto own = centered(scores, config.scale_by_std, false);
    for (std::size_t j = 0; j < group.size(); ++j) advantages[group[j]].assign(episodes[group[j]].turns.size(), own[j]);
    compare_steps(episodes, group, returns, 1, config.scale_by_std, false, [&](Step step, double advantage) {
      advantages[step.episode][step.turn] += config.step_weight * advantage;
    });
  }
  return advantages;
}

ByTurn hgpo(std::span<const EpisodeRewards> episodes, const AdvantageConfig& config) {
  const auto returns = step_returns(episodes, config);
  ByTurn sums, weights;
  for (const auto& episode : episodes) {
    sums.emplace_back(episode.turns.size());
    weights.emplace_back(episode.turns.size());
  }
  // A comparison without a difference has no weight.
  const auto add = [&](Step step, double advantage, std::size_t depth) {
    if (std::abs(advantage) <= kScoreTolerance) return;
    const double weight = std::pow(static_cast<double>(depth + 1), config.history_exponent);
    sums[step.episode][step.turn] += weight * advantage;
    weights[step.episode][step.turn] += weight;
  };
  for (const auto& group : indices_by_group(episodes)) {
    if (config.episode_term) {
      // Each turn is an observation of its episode's score, as in the authors' code.
      std::vector<double> scores;
      std::vector<Step> steps;
      for (const std::size_t i : group)
        for (std::size_t k = 0; k < episodes[i].turns.size(); ++k) {
          scores.push_back(episodes[i].score());
          steps.push_back({i, k});
        }
      const auto own = centered(scores, config.scale_by_std, false);
      for (std::size_t j = 0; j < steps.size(); ++j) add(steps[j], own[j], 0);
    }
    for (std::size_t depth = 1; depth <= static_cast<std::size_t>(config.history) + 1; ++depth)
      compare_steps(episodes, group, returns, depth, config.scale_by_std, true,
                    [&](Step step, double advantage) { add(step, advantage, depth); });
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    for (std::size_t k = 0; k < sums[i].size(); ++k)
      if (weights[i][k] > 0) sums[i][k] /= weights[i][k] + kStdEpsilon;
  return sums;
}

}  // namespace starpo
