#pragma once

#include <functional>
#include <vector>

#include "config/run_config.h"
#include "engine/generator.h"
#include "train/run/playground.h"

namespace starpo {

// What the policy thinks first on a set of levels that is the same in every iteration, so that a change of what thoughts depend on isn't one of levels: diagnosed_samples episodes of one turn,
// shared out among `most_prompts` fixed levels, drawn with random numbers of their own. progress is called as run_rollout says. Errors: those of run_rollout.
std::vector<Episode> play_probe(const RunConfig&, const Playground&, Generator&, int iteration, std::function<void(int finished)> progress);

}  // namespace starpo
