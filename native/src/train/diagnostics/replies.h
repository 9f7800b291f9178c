#pragma once

#include <span>

#include "journal/journal.h"
#include "rollout/episode.h"

namespace starpo {

// What can be counted from replies' tokens: rollout/repeated_ngrams, entropy by turn, and where `think`, of thought and of answer.
void add_reply_metrics(std::span<const Episode> episodes, bool think, Metrics&);

}  // namespace starpo
