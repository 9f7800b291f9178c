#pragma once

#include <functional>
#include <span>
#include <vector>

#include "config/run_config.h"
#include "engine/generator.h"
#include "journal/journal.h"
#include "train/context/playground.h"
#include "train/replica/replica.h"
#include "train/update/sequence.h"

namespace starpo {

// Returns whether diagnostics run in this iteration (every diagnostics.every iterations).
bool diagnostics_due(const RunConfig&, int iteration);

// Returns the sample size of each diagnostic: diagnostics.samples, but to bound the cost of small iterations at most
// the larger of 8 and an eighth of a rollout's episodes.
int diagnostic_samples(const RunConfig&);

// Plays about diagnostic_samples one-turn episodes on kMaxPrompts fixed levels with their own random numbers. The
// levels are the same in every iteration, so that changes of the diagnostics are not due to the levels. progress: see
// RolloutRequest. Throws the errors of run_rollout.
std::vector<Episode> play_probe(const RunConfig&, const Playground&, Generator&, int iteration,
                                std::function<void(int finished)> progress);

// Computes diagnostics/* on samples, before an update changes the policy. Does not draw random numbers or change
// training state. reasoning_episodes: episodes of the rollout or the probe, ordered by group, whose first reasoning is
// compared. kept: sequences to train on, with advantages. Drift is measured against the replica's copy of the start
// weights or, without one, against the reference log-probabilities in `kept`. progress is called after every
// forward pass.
void add_diagnostics(const RunConfig&, Replica&, std::span<const Episode> reasoning_episodes,
                     std::span<const Sequence> kept, Metrics&, const std::function<void()>& progress);

}  // namespace starpo
