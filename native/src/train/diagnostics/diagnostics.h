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

// Whether this iteration is one of every diagnostics.every.
bool is_diagnosed(const RunConfig&, int iteration);

// Thoughts, or episodes, that each is computed from: diagnostics.samples, but at most an eighth of a rollout's episodes
// (small iterations have less time to give away), or 8 where that is more: fewer can't be compared.
int diagnosed_samples(const RunConfig&);

// What the policy thinks first on a set of levels that is the same in every iteration, so that a change of what
// thoughts depend on isn't one of levels: diagnosed_samples episodes of one turn, shared out among `most_prompts` fixed
// levels, drawn with random numbers of their own. progress is called as run_rollout says. Errors: those of run_rollout.
std::vector<Episode> play_probe(const RunConfig&, const Playground&, Generator&, int iteration,
                                std::function<void(int finished)> progress);

// What can't be counted from episodes but must be computed, on samples of diagnosed_samples' size, before an update
// changes the policy: diagnostics/*. Nothing random is drawn and nothing of the training changes. thinkers: whose first
// thoughts are compared, of the whole rollout or of the probe, group by group. Drift is measured against the replica's
// copy of the start; where it needs none, by what `kept` holds of the reference, which then is the start. kept: those
// that are trained on, with their advantages. progress is called after every pass.
void add_diagnostics(const RunConfig&, Replica&, std::span<const Episode> thinkers, std::span<const Sequence> kept,
                     Metrics&, const std::function<void()>& progress);

}  // namespace starpo
