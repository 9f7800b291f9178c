#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "rollout/episode.h"
#include "rollout/settings.h"

namespace starpo {

inline constexpr std::string_view kEnvironmentTerm = "environment";
inline constexpr std::string_view kFormatTerm = "format";

// Returns the weighted reward terms of a finished turn (docs/algorithms.md):
//   environment:  environment_weight times the environment's reward
//   format:       the penalty of a malformed response or an invalid action, else 0
//   step_cost:    -step_cost per executed action
//   success:      success_bonus, in the last turn of a successful episode
//   length:       -length_cost times the share of the last length_buffer tokens before max_response_tokens that was
//                 sampled; without a buffer, of all max_response_tokens
// Terms with weight 0 are absent, except for environment and format. solves: the turn ends the episode with success.
std::vector<RewardTerm> reward_terms(const Turn&, bool solves, const RewardConfig&, int max_response_tokens);

// Returns the terms for claims of one of the episode's `turns`:
//   grounding:    grounding_weight / turns times (true - false) / checked claims about the state, 0 without claims
//   faithfulness: faithfulness_weight / turns times the same for claims about the actions
// The sum over an episode is the mean over its turns. Otherwise more turns would earn more, and a policy would learn to
// delay the end of the episode.
std::vector<RewardTerm> claim_terms(const Turn&, std::size_t turns, const RewardConfig&);

double sum_of(std::span<const RewardTerm>);

// Returns whether a reward program can't use the name.
bool is_built_in_term(std::string_view name);

// Returns the size of the option that weighs a term. Terms that are not built in are those of the reward program.
double weight_of_term(std::string_view name, const RewardConfig&);

}  // namespace starpo
