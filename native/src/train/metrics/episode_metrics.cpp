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

// Adds the share of each action among executed actions, including 0 for unused ones.
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
      metrics[metric::family_metric(metric::kRolloutActionShare, name)] = static_cast<double>(count) / executed;
}

// Counts first actions by index among the action names (for Bandit, the position of the arm); no action counts as a
// separate choice.
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

  // Returns the plug-in estimate in nats, without bias correction.
  double entropy() const {
    double sum = 0;
    for (const auto& [action, count] : counts) sum -= count * std::log(static_cast<double>(count) / episodes);
    return sum / episodes;
  }

  // Returns the Miller-Madow correction of the plug-in entropy: (choices - 1) / 2 draws.
  double bias() const { return static_cast<double>(counts.size() - 1) / (2.0 * episodes); }
};

constexpr std::size_t kReportedTurns = 8;

// Adds the share of token 4-grams that occurred earlier in the response. Skips shorter responses.
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

  // Per environment, since action names of different environments are unrelated.
  std::map<int, FirstActions> by_environment;
  double given_level = 0;
  int counted = 0;
  std::size_t groups = 0;
  bool is_defined = true;
  for (const auto group : groups_of(episodes)) {
    if (group.front().action_names.empty()) continue;
    FirstActions own;
    for (const Episode& episode : group) own.add(episode), by_environment[episode.spec.environment].add(episode);
    given_level += own.episodes * (own.entropy() + own.bias());
    counted += own.episodes;
    ++groups;
    is_defined &= group.size() > 1;
  }
  if (counted == 0) return;
  double entropy = 0, bias = 0;
  for (const auto& [environment, all] : by_environment)
    entropy += all.episodes * all.entropy(), bias += all.episodes * all.bias();
  metrics[std::string(metric::kRolloutFirstActionEntropy)] = entropy / counted;
  // I(a; level) = H(a) - H(a | level). Undefined for one episode per level or a single level.
  if (is_defined && groups > by_environment.size())
    metrics[std::string(metric::kRolloutFirstActionDependence)] =
        std::max(0.0, (entropy + bias - given_level) / counted);
}

void add_response_metrics(std::span<const Episode> episodes, bool think, Metrics& metrics) {
  Average repeated, reasoning, answer;
  std::array<Average, kReportedTurns> by_turn;
  for (const Episode& episode : episodes) {
    for (std::size_t t = 0; t < episode.turns.size(); ++t) {
      const Turn& turn = episode.turns[t];
      add_repeated(turn.ids, repeated);
      for (std::size_t i = 0; i < turn.entropies.size(); ++i) {
        // The token that completes </think> belongs to the reasoning.
        (static_cast<int>(i) <= turn.think_tokens ? reasoning : answer).add(turn.entropies[i]);
        if (t < kReportedTurns) by_turn[t].add(turn.entropies[i]);
      }
    }
  }
  set_average(metrics, metric::kRolloutRepeatedNgrams, repeated);
  if (think) set_average(metrics, metric::kRolloutThinkEntropy, reasoning);
  if (think) set_average(metrics, metric::kRolloutAnswerEntropy, answer);
  for (std::size_t t = 0; t < kReportedTurns; ++t)
    set_average(metrics, metric::family_metric(metric::kRolloutEntropyByTurn, std::to_string(t + 1)), by_turn[t]);
}

}  // namespace starpo
