#pragma once

#include <span>

#include "journal/journal.h"
#include "rollout/episode.h"

// What can be counted from episodes alone, besides what their thoughts say (train/metrics/thoughts.h).
namespace starpo {

// What is done, and how much it depends on the board: rollout/action_share/*, rollout/first_action_entropy and
// rollout/first_action_dependence, of environments that name their actions. episodes: group by group, the groups of an
// environment together.
void add_action_metrics(std::span<const Episode> episodes, Metrics&);

// What can be counted from replies' tokens: rollout/repeated_ngrams, entropy by turn, and where `think`, of thought and
// of answer.
void add_reply_metrics(std::span<const Episode> episodes, bool think, Metrics&);

}  // namespace starpo
