#pragma once

#include <functional>
#include <span>
#include <vector>

#include "config/run_config.h"
#include "journal/journal.h"
#include "train/replica/replica.h"
#include "train/update/sequence.h"

namespace starpo {

struct UpdateResult {
  Metrics metrics;
  Updates updates;
};

// StarPO's update (RAGEN, arXiv 2504.20073, equations 3 to 5): kept trajectories in order, mini-batches of whole
// groups, one AdamW step each, `epochs` times; the critic, where there is one, learns from the same mini-batches, and
// alone in the first critic.warmup iterations. progress is called after every micro-batch with optimiser steps done and
// their number. Errors: non_finite_loss, and those of optimizer_step and critic_step.
UpdateResult update_policy(const RunConfig&, Replica&, int iteration, std::span<const Sequence> sequences,
                           const std::function<void(int done, int total)>& progress);

}  // namespace starpo
