#pragma once

#include <functional>

#include "base/thread_pool.h"
#include "config/run_config.h"
#include "journal/journal.h"
#include "train/context/playground.h"
#include "train/replica/replica.h"
#include "train/update/policy_update.h"

namespace starpo {

// Plays demonstration `index` of a warm start. Environment, level, style and plan are functions of seed and index.
// Styles vary and some plans are wrong, so that the policy starts with several behaviors for training to select from.
Episode play_demonstration(const RunConfig&, const Playground&, std::uint64_t index);

// Runs one warm-start iteration: steps_per_iteration AdamW steps on the mean cross-entropy of demonstration responses.
// Demonstrations are numbered over the whole run. Throws non_finite_loss, warm_start_unsupported, and the errors of
// EpisodePlayer and optimizer_step.
UpdateResult warm_start_iteration(const RunConfig&, const Playground&, Replica&, ThreadPool&, int iteration,
                                  const std::function<void(int done, int total)>& progress);

}  // namespace starpo
