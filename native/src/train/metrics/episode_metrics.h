#pragma once

#include <span>

#include "journal/journal.h"
#include "rollout/episode.h"

// Metrics of actions and response tokens. For reasoning, see train/metrics/reasoning_metrics.h.
namespace starpo {

// Adds rollout/action_share/*, rollout/first_action_entropy and rollout/first_action_dependence for environments with
// named actions. episodes: ordered by environment and group.
void add_action_metrics(std::span<const Episode> episodes, Metrics&);

// Adds rollout/repeated_ngrams and entropy per turn and, if `think`, of reasoning and answer.
void add_response_metrics(std::span<const Episode> episodes, bool think, Metrics&);

}  // namespace starpo
