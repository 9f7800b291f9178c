#pragma once

#include <string>
#include <vector>

#include "algorithm/advantage.h"

namespace starpo {

// none:            rewards are unchanged
// mean:            x - mean
// mean_std:        (x - mean) / (unbiased std + 1e-6)
// asymmetric_clip: mean_std, clipped to [-1, 3], so that a failure counts less than a rare success
enum class RewardNormalization { none, mean, mean_std, asymmetric_clip };

// Episodes whose scores share a mean and standard deviation. batch: the kept episodes of all environments.
enum class NormalizationScope { group, environment, batch };

struct NormalizationConfig {
  RewardNormalization method = RewardNormalization::none;
  NormalizationScope scope = NormalizationScope::group;
  bool each_term = false;
};

// Replaces the scores x of episodes by normalized ones, as RAGEN does before it estimates advantages: a single reward
// in the last turn. Equal scores and single episodes become 0. each_term: x is each term of the score in turn, and the
// normalized terms are added with their weights (GDPO, arXiv 2601.05242). An episode without a term has 0.
void normalize_rewards(std::vector<EpisodeRewards>&, const NormalizationConfig&);

// Returns why an estimator can't use normalized rewards, or "".
std::string conflict_with_estimator(const NormalizationConfig&, const AdvantageConfig&);

}  // namespace starpo
