#pragma once

#include "algorithm/advantage.h"

// Estimators with a critic, GiGPO, HGPO and shared helpers, for token_advantages.
namespace starpo {

// Token indices of a turn: [first, last].
struct TurnTokens {
  std::size_t first, last;
};
std::vector<TurnTokens> tokens_of_turns(const EpisodeRewards&);

// Returns the reward of each trained token: KL rewards, plus the rewards at the last token of the episode or of each
// turn.
std::vector<double> token_rewards(const EpisodeRewards&, RewardPosition);

// Returns the reward of each turn, without KL.
std::vector<double> turn_rewards(const EpisodeRewards&, RewardPosition);

// Returns the indices of the episodes of each group, in order.
std::vector<std::vector<std::size_t>> indices_by_group(std::span<const EpisodeRewards>);

// Estimators with a critic, each of one episode.
TokenAdvantages gae(const EpisodeRewards&, const AdvantageConfig&);
TokenAdvantages bi_level_gae(const EpisodeRewards&, const AdvantageConfig&);
TokenAdvantages trajectory_baseline(const EpisodeRewards&);
TokenAdvantages turn_baseline(const EpisodeRewards&, const AdvantageConfig&);

// Return one advantage per turn: [episodes][turns]. KL is not included.
std::vector<std::vector<double>> gigpo(std::span<const EpisodeRewards>, const AdvantageConfig&);
std::vector<std::vector<double>> hgpo(std::span<const EpisodeRewards>, const AdvantageConfig&);

}  // namespace starpo
