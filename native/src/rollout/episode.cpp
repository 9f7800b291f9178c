#include "rollout/episode.h"

namespace starpo {

const char* name_of(Ended ended) {
  switch (ended) {
    case Ended::done: return "done";
    case Ended::max_turns: return "max_turns";
    case Ended::max_actions: return "max_actions";
    case Ended::context: return "context";
  }
  return "";
}

int Episode::sampled_tokens() const {
  int sum = 0;
  for (const Turn& turn : turns) sum += static_cast<int>(turn.ids.size());
  return sum;
}

int Episode::executed_actions() const {
  int sum = 0;
  for (const Turn& turn : turns) sum += static_cast<int>(turn.executed.size());
  return sum;
}

int Episode::total_tokens() const {
  int sum = 0;
  for (const Turn& turn : turns) sum += static_cast<int>(turn.context_ids.size() + turn.ids.size());
  return sum;
}

}  // namespace starpo
