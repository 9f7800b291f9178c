#pragma once

#include <span>

#include "journal/journal.h"
#include "rollout/episode.h"

namespace starpo {

// What is done, and how much it depends on the board: rollout/action_share/*, rollout/first_action_entropy and rollout/first_action_dependence, of environments
// that name their actions. episodes: group by group, the groups of an environment together.
void add_action_metrics(std::span<const Episode> episodes, Metrics&);

}  // namespace starpo
