#pragma once

#include <functional>
#include <span>

#include "engine/network_pass.h"
#include "rollout/episode.h"
#include "train/diagnostics/mutual_information.h"

namespace starpo {

// More would cost more than they tell: a thought is scored under each.
inline constexpr int most_prompts = 8;

// Scores first thoughts under the first prompts of their levels: about `samples` of them, evenly from all groups, under at most most_prompts distinct prompts (as token ids). A thought is
// what was sampled up to and including the token that completes </think>; prompts are what stands before it. episodes: group by group. pass: of the policy that played them; it is given
// micro-batches of at most `micro_batch_tokens` tokens (one sequence at least), and progress is called after each.
ThoughtLikelihoods thought_likelihoods(NetworkPass& pass, std::span<const Episode> episodes, int samples, float temperature, int micro_batch_tokens, const std::function<void()>& progress);

}  // namespace starpo
