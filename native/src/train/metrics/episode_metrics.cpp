#include "train/metrics/episode_metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "env/action_name.h"
#include "journal/metric_names.h"
#include "train/metrics/average.h"

namespace starpo {
namespace {

// Shares of the executed actions, by the names that the environment has for them; one that nobody took has 0.
void add_shares(std::span<const Episode> episodes, Metrics& metrics) {
  std::map<std::string, int> taken;
  int executed = 0;
  for (const Episode& episode : episodes) {
    for (const std::string& name : episode.action_names) taken.try_emplace(name, 0);
    if (episode.action_names.empty()) continue;
    for (const Turn& turn : episode.turns)
      for (const ExecutedAction& action : turn.executed)
        if (const auto index = find_action(action.action, episode.action_names))
          ++taken[episode.action_names[*index]], ++executed;
  }
  for (const auto& [name, count] : taken)
    if (executed > 0)
      metrics[metric::of_member(metric::rollout_action_share, name)] = static_cast<double>(count) / executed;
}

// How often each first action was chosen, by its place among those that the episode offered (an arm's is the one it is
// shown in); none is a choice of its own.
struct FirstActions {
  std::map<int, int> counts;
  int episodes = 0;

  void add(const Episode& episode) {
    constexpr int none = -1;
    const auto turn = std::ranges::find_if(episode.turns, [](const Turn& each) { return !each.executed.empty(); });
    ++counts[turn == episode.turns.end()
                 ? none
                 : find_action(turn->executed.front().action, episode.action_names).value_or(none)];
    ++episodes;
  }

  // In nats, from the counts as they are.
  double entropy() const {
    double sum = 0;
    for (const auto& [action, count] : counts) sum -= count * std::log(static_cast<double>(count) / episodes);
    return sum / episodes;
  }

  // What the entropy of few draws falls short of the distribution's, in the mean: (choices - 1) / 2 draws (Miller,
  // 1955, and Madow).
  double missing() const { return static_cast<double>(counts.size() - 1) / (2.0 * episodes); }
};

constexpr std::size_t shown_turns = 8;

// The share of a reply's token 4-grams that occurred earlier in it; nothing to average where it is shorter.
void add_repeated(std::span<const std::int32_t> ids, Average& average) {
  constexpr std::size_t length = 4;
  std::vector<std::array<std::int32_t, length>> ngrams;
  for (std::size_t at = 0; at + length <= ids.size(); ++at)
    std::copy_n(ids.begin() + static_cast<std::ptrdiff_t>(at), length, ngrams.emplace_back().begin());
  if (ngrams.empty()) return;
  std::ranges::sort(ngrams);
  average.add(static_cast<double>(std::ranges::unique(ngrams).size()) / static_cast<double>(ngrams.size()));
}

}  // namespace

void add_action_metrics(std::span<const Episode> episodes, Metrics& metrics) {
  add_shares(episodes, metrics);

  // Given the environment: names of two environments have nothing in common.
  std::map<int, FirstActions> by_environment;
  double given_board = 0;
  int counted = 0;
  std::size_t groups = 0;
  bool compares = true;
  for (const auto group : groups_of(episodes)) {
    if (group.front().action_names.empty()) continue;
    FirstActions own;
    for (const Episode& episode : group) own.add(episode), by_environment[episode.spec.environment].add(episode);
    given_board += own.episodes * (own.entropy() + own.missing());
    counted += own.episodes;
    ++groups;
    compares &= group.size() > 1;
  }
  if (counted == 0) return;
  double entropy = 0, missing = 0;
  for (const auto& [environment, all] : by_environment)
    entropy += all.episodes * all.entropy(), missing += all.episodes * all.missing();
  metrics[std::string(metric::rollout_first_action_entropy)] = entropy / counted;
  // I(a; board) = H(a) - H(a | board). One draw, or one board, says nothing of it.
  if (compares && groups > by_environment.size())
    metrics[std::string(metric::rollout_first_action_dependence)] =
        std::max(0.0, (entropy + missing - given_board) / counted);
}

void add_reply_metrics(std::span<const Episode> episodes, bool think, Metrics& metrics) {
  Average repeated, thought, answer;
  std::array<Average, shown_turns> by_turn;
  for (const Episode& episode : episodes) {
    for (std::size_t t = 0; t < episode.turns.size(); ++t) {
      const Turn& turn = episode.turns[t];
      add_repeated(turn.ids, repeated);
      for (std::size_t i = 0; i < turn.entropies.size(); ++i) {
        // The token that completes </think> is the last of the thought.
        (static_cast<int>(i) <= turn.think_tokens ? thought : answer).add(turn.entropies[i]);
        if (t < shown_turns) by_turn[t].add(turn.entropies[i]);
      }
    }
  }
  set_average(metrics, metric::rollout_repeated_ngrams, repeated);
  if (think) set_average(metrics, metric::rollout_think_entropy, thought);
  if (think) set_average(metrics, metric::rollout_answer_entropy, answer);
  for (std::size_t t = 0; t < shown_turns; ++t)
    set_average(metrics, metric::of_member(metric::rollout_entropy_by_turn, std::to_string(t + 1)), by_turn[t]);
}

}  // namespace starpo
