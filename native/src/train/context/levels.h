#pragma once

#include <memory>
#include <span>
#include <vector>

#include "config/run_config.h"
#include "rollout/episode.h"

namespace starpo {

// The episodes of iteration t: group g plays level train_seed + (t - 1) * groups + g, seeds repeating after
// levels.pool. Groups of one environment stand together. Slips and payouts are drawn for the iteration and the group
// (or the episode, where they are independent), so that a level that comes again brings other luck.
std::vector<EpisodeSpec> training_episodes(const RunConfig&, int iteration);

// One episode on each of an environment's fixed levels, with luck that belongs to the level: every evaluation plays the
// same, and two can be compared in pairs.
std::vector<EpisodeSpec> evaluation_episodes(const RunConfig&, int environment);

// Some members on each of so many fixed levels, the first that evaluations play, shared out among the environments as
// training's groups are.
std::vector<EpisodeSpec> probe_episodes(const RunConfig&, int levels, int members);

// Level and luck of demonstration number `index`: levels that lie far from the training and validation seeds.
// Demonstrations have no groups.
EpisodeSpec demonstration_episode(const RunConfig&, int environment, std::uint64_t index);

// Says of each group how easy its level is, by its first episode; see env/level_ease.h. `episodes`: group by group.
// `prototypes`: by environment.
void rate_levels(const RunConfig&, std::span<const std::unique_ptr<Environment>> prototypes,
                 std::span<Episode> episodes);

}  // namespace starpo
