#include "algorithm/reward_normalization.h"

#include <algorithm>
#include <map>

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

}  // namespace

void normalize_rewards(std::vector<EpisodeRewards>& episodes, RewardNormalization method, NormalizationScope scope) {
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
    const double center = mean(scores), deviation = reward_std(scores);
    for (std::size_t i = 0; i < own.size(); ++i) {
      for (TurnRewards& turn : own[i]->turns) turn.reward = 0;
      own[i]->turns.back().reward = normalized(scores[i], center, deviation, method);
    }
  }
}

}  // namespace starpo
