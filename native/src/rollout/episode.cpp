#include "rollout/episode.h"

#include <algorithm>

namespace starpo {

const char* name_of(EndReason ended) {
  switch (ended) {
    case EndReason::done: return "done";
    case EndReason::max_turns: return "max_turns";
    case EndReason::max_actions: return "max_actions";
    case EndReason::context: return "context";
    case EndReason::environment_failed: return "environment_failed";
  }
  return "";
}

void Episode::add_term(const std::string& name, double value) {
  const auto term = std::ranges::find(terms, name, &RewardTerm::name);
  if (term == terms.end())
    terms.push_back({name, value});
  else
    term->value += value;
}

void Episode::add_turn_term(std::size_t turn, const std::string& name, double value) {
  turns[turn].terms.push_back({name, value});
  turns[turn].score += value;
  score += value;
  add_term(name, value);
}

void Episode::make_void() {
  ended = EndReason::environment_failed;
  score = 0;
  terms.clear();
  success = false;
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

std::vector<std::span<const Episode>> groups_of(std::span<const Episode> episodes) {
  std::vector<std::span<const Episode>> groups;
  for (std::size_t start = 0; start < episodes.size(); start += groups.back().size()) {
    const auto rest = episodes.subspan(start);
    const auto end = std::ranges::find_if(
        rest, [&](const Episode& episode) { return episode.spec.group != rest.front().spec.group; });
    groups.push_back(rest.first(static_cast<std::size_t>(end - rest.begin())));
  }
  return groups;
}

std::vector<double> scores_of(std::span<const Episode> episodes) {
  std::vector<double> scores;
  for (const Episode& episode : episodes) scores.push_back(episode.score);
  return scores;
}

}  // namespace starpo
