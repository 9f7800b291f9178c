#include "algorithm/reward_normalization.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "algorithm/statistics.h"

namespace starpo {
namespace {

constexpr double kLowest = -1, kHighest = 3;

double normalized(double score, double center, double deviation, RewardNormalization method) {
  if (deviation == 0) return 0;
  const double difference = score - center;
  if (method == RewardNormalization::mean) return difference;
  const double scaled = difference / (deviation + kStdEpsilon);
  return method == RewardNormalization::asymmetric_clip ? std::clamp(scaled, kLowest, kHighest) : scaled;
}

// Returns the normalized values of episodes that share a mean and standard deviation.
std::vector<double> all_normalized(std::span<const double> values, RewardNormalization method) {
  const double center = mean(values), deviation = reward_std(values);
  std::vector<double> result;
  for (const double value : values) result.push_back(normalized(value, center, deviation, method));
  return result;
}

// Returns the weighted sum of each episode's normalized terms.
std::vector<double> normalized_terms(std::span<EpisodeRewards* const> episodes, RewardNormalization method) {
  std::map<std::string, std::pair<double, std::vector<double>>> terms;  // weight and values by name
  for (std::size_t i = 0; i < episodes.size(); ++i) {
    for (const ScoreTerm& term : episodes[i]->terms) {
      auto& [weight, values] = terms[term.name];
      weight = term.weight;
      values.resize(episodes.size());
      values[i] += term.value;
    }
  }
  std::vector<double> sums(episodes.size());
  for (const auto& [name, term] : terms) {
    const auto values = all_normalized(term.second, method);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += term.first * values[i];
  }
  return sums;
}

}  // namespace

void normalize_rewards(std::vector<EpisodeRewards>& episodes, const NormalizationConfig& config) {
  const auto [method, scope, each_term] = config;
  if (method == RewardNormalization::none) return;
  std::map<int, std::vector<EpisodeRewards*>> parts;
  for (EpisodeRewards& episode : episodes)
    parts[scope == NormalizationScope::group         ? episode.group
          : scope == NormalizationScope::environment ? episode.environment
                                                     : 0]
        .push_back(&episode);
  for (const auto& [part, own] : parts) {
    std::vector<double> scores;
    for (const EpisodeRewards* episode : own) scores.push_back(episode->score());
    // Centered terms add up to the centered score. Their weights are already in it.
    const bool scales = method != RewardNormalization::mean;
    scores = each_term && scales ? normalized_terms(own, method) : all_normalized(scores, method);
    for (std::size_t i = 0; i < own.size(); ++i) {
      for (TurnRewards& turn : own[i]->turns) turn.reward = 0;
      own[i]->turns.back().reward = scores[i];
    }
  }
}

std::string conflict_with_estimator(const NormalizationConfig& normalization, const AdvantageConfig& advantage) {
  if (normalization.method == RewardNormalization::none) return "";
  if (advantage.rewards == RewardPosition::turn && reads_turn_rewards(advantage.estimator))
    return "must be none: it gives one reward per episode, but advantage.rewards is turn. Set it to none, or "
           "advantage.rewards to episode";
  if (advantage.estimator == Estimator::maxrl && normalization.scope == NormalizationScope::group)
    return "must be none: maxrl divides by the mean score of a group, which normalization by group makes 0. Set it to "
           "none, or reward.normalize_by to environment or batch";
  return "";
}

}  // namespace starpo
