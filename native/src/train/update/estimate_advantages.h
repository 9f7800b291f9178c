#pragma once

#include <functional>
#include <span>
#include <vector>

#include "config/run_config.h"
#include "journal/journal.h"
#include "rollout/episode.h"
#include "train/replica/replica.h"
#include "train/update/sequence.h"

namespace starpo {

// The trajectories of the kept groups' episodes, in order, with an advantage for every trained token: in-reward KL,
// then the estimator, then whitening, each environment by itself.
//   gae: the episode's score stands at its last trained token, each token's KL penalty at its own
//   group-relative: the episode's advantage for all its tokens, and the KL penalties from each token on
// episodes: group by group, and they outlive what is returned; kept_groups: [groups]; progress is called after every
// forward pass. Adds actor/kl_to_reference, critic/* of the values and advantage/* (before whitening, but for
// zero_spread_share).
std::vector<Sequence> estimate_advantages(const RunConfig&, Replica&, std::span<const Episode> episodes,
                                          const std::vector<bool>& kept_groups, Metrics&,
                                          const std::function<void()>& progress);

}  // namespace starpo
