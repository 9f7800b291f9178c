#pragma once

#include <memory>
#include <span>
#include <vector>

#include "config/run_config.h"
#include "rollout/episode.h"

namespace starpo {

// Returns the episodes of round r (from 0) of iteration t, ordered by environment and group. With m extra rounds, the
// iteration has the levels from train_seed + (t - 1) * (m + 1) * groups on, whether they are played or not, and its
// group r * groups + g plays the level with this offset. Seeds repeat after levels.pool. Noise is drawn per iteration
// and group (or episode, if independent), so a repeated level gets new slips and payouts.
std::vector<EpisodeSpec> training_episodes(const RunConfig&, int iteration, int round = 0);

// Returns the episode on validation level `index` of an environment. Noise belongs to the level, so evaluations can be
// compared in pairs.
EpisodeSpec evaluation_episode(const RunConfig&, int environment, int index);

// Returns one episode on each of an environment's first evaluation.levels validation levels.
std::vector<EpisodeSpec> evaluation_episodes(const RunConfig&, int environment);

// Returns group_size episodes on each of the first `levels` evaluation levels, distributed over environments like
// training groups.
std::vector<EpisodeSpec> probe_episodes(const RunConfig&, int levels, int group_size);

// Returns the level and noise of demonstration `index`. Its seeds are far from training and validation seeds.
// Demonstrations have no groups.
EpisodeSpec demonstration_episode(const RunConfig&, int environment, std::uint64_t index);

// Sets the level difficulty of the first episode of each group; see env/level_difficulty.h. `episodes`: ordered by
// group. `prototypes`: per environment.
void rate_level_difficulty(const RunConfig&, std::span<const std::unique_ptr<Environment>> prototypes,
                           std::span<Episode> episodes);

}  // namespace starpo
