#include <algorithm>

#include "algorithm/estimators.h"

namespace starpo {
namespace {

std::vector<double> sum_of(std::span<const double> a, std::span<const double> b) {
  std::vector<double> sums(a.size());
  std::ranges::transform(a, b, sums.begin(), std::plus{});
  return sums;
}

}  // namespace

TokenAdvantages gae(const EpisodeRewards& episode, const AdvantageConfig& config) {
  TokenAdvantages result;
  result.advantages.resize(episode.tokens());
  generalized_advantages(token_rewards(episode, config.rewards), episode.values, config.gamma, config.lambda,
                         result.advantages);
  result.value_targets = sum_of(result.advantages, episode.values);
  result.value_mask.assign(episode.tokens(), true);
  return result;
}

TokenAdvantages bi_level_gae(const EpisodeRewards& episode, const AdvantageConfig& config) {
  auto rewards = token_rewards(episode, config.rewards);
  const auto turns = tokens_of_turns(episode);

  std::vector<double> at_ends, values, turn_advantages(turns.size());
  for (const auto [first, last] : turns) {
    at_ends.push_back(rewards[last]);
    values.push_back(episode.values[last]);
  }
  generalized_advantages(at_ends, values, config.turn_gamma, config.lambda, turn_advantages);

  TokenAdvantages result;
  result.advantages.resize(episode.tokens());
  for (std::size_t k = 0; k < turns.size(); ++k) {
    const auto [first, last] = turns[k];
    rewards[last] = turn_advantages[k] + values[k];  // the turn's return
    const auto part = [&](auto& all) { return std::span(all).subspan(first, last - first + 1); };
    generalized_advantages(part(rewards), part(episode.values), config.gamma, config.lambda, part(result.advantages));
  }
  result.value_targets = sum_of(result.advantages, episode.values);
  result.value_mask.assign(episode.tokens(), true);
  return result;
}

TokenAdvantages trajectory_baseline(const EpisodeRewards& episode) {
  double score = episode.score();
  for (const double reward : episode.kl_rewards) score += reward;
  TokenAdvantages result;
  result.advantages.assign(episode.tokens(), score - episode.values.front());
  result.value_targets.assign(episode.tokens(), score);
  result.value_mask.assign(episode.tokens(), false);
  result.value_mask.front() = true;
  return result;
}

TokenAdvantages turn_baseline(const EpisodeRewards& episode, const AdvantageConfig& config) {
  auto rewards = turn_rewards(episode, config.rewards);
  const auto turns = tokens_of_turns(episode);
  std::vector<double> values;
  for (std::size_t k = 0; k < turns.size(); ++k) {
    values.push_back(episode.values[turns[k].first]);
    if (!episode.kl_rewards.empty())
      for (std::size_t t = turns[k].first; t <= turns[k].last; ++t) rewards[k] += episode.kl_rewards[t];
  }
  std::vector<double> advantages(turns.size());
  generalized_advantages(rewards, values, config.turn_gamma, config.lambda, advantages);

  TokenAdvantages result;
  for (std::size_t k = 0; k < turns.size(); ++k) {
    const auto count = static_cast<std::size_t>(episode.turns[k].tokens);
    result.advantages.insert(result.advantages.end(), count, advantages[k]);
    result.value_targets.insert(result.value_targets.end(), count, advantages[k] + values[k]);
    result.value_mask.push_back(true);
    result.value_mask.insert(result.value_mask.end(), count - 1, false);
  }
  return result;
}

}  // namespace starpo
