#pragma once

#include <vector>

#include "config/run_config.h"
#include "rollout/episode.h"

namespace starpo {

// How many of the training groups each environment has: its share by largest remainder, earlier environments first on ties.
std::vector<int> groups_by_environment(const RunConfig&);

// The episodes of iteration t: group g plays level train_seed + (t - 1) * groups + g, seeds repeating after levels.pool. Groups of one environment stand together.
std::vector<EpisodeSpec> training_episodes(const RunConfig&, int iteration);

// One episode on each of an environment's fixed levels.
std::vector<EpisodeSpec> evaluation_episodes(const RunConfig&, int environment);

}  // namespace starpo
