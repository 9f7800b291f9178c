#pragma once

#include <functional>

#include "base/thread_pool.h"
#include "config/run_config.h"
#include "journal/journal.h"
#include "train/context/playground.h"
#include "train/replica/replica.h"
#include "train/update/policy_update.h"

namespace starpo {

// Plays demonstration number `index` of a warm start: environment by share, level, style of thought and plan are
// functions of the seed and the index. The styles differ on purpose and some plans are bad, so that the policy starts
// with ways of thinking to choose between: what reinforcement then does is choose.
Episode play_demonstration(const RunConfig&, const Playground&, std::uint64_t index);

// One iteration of a warm start: steps_per_iteration AdamW steps on the mean cross-entropy of demonstration replies.
// Demonstrations are numbered through the run. Errors: non_finite_loss, and those of optimizer_step.
UpdateResult warm_start_iteration(const RunConfig&, const Playground&, Replica&, ThreadPool&, int iteration,
                                  const std::function<void(int done, int total)>& progress);

}  // namespace starpo
