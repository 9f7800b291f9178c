#pragma once

#include <span>
#include <string>

#include "journal/journal.h"
#include "rollout/episode.h"

namespace starpo {

// What an episode thinks before it has seen anything but its board: the think block of its first turn, the whole reply
// where that is invalid.
std::string first_thought(const Episode&);

// The first thought that most episodes share, whatever their boards: near a share of 1 it is the template that the Echo
// Trap ends in (RAGEN, arXiv 2504.20073, section 4.2; template collapse in RAGEN-2). Its text is cut at 300 characters.
// episodes: at least one; the first in the alphabet of several that are as common.
ThoughtTemplate commonest_thought(std::span<const Episode>);

// How much first thoughts say the same: rollout/template_share, rollout/thought_likeness_* and
// rollout/common_opening_share. episodes: group by group.
void add_thought_metrics(std::span<const Episode> episodes, Metrics&);

}  // namespace starpo
