#include "train/diagnostics/replies.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "journal/metric_names.h"
#include "train/diagnostics/average.h"

namespace starpo {
namespace {

constexpr std::size_t shown_turns = 8;

// The share of a reply's token 4-grams that occurred earlier in it; nothing to average where it is shorter.
void add_repeated(std::span<const std::int32_t> ids, Average& average) {
  constexpr std::size_t length = 4;
  std::vector<std::array<std::int32_t, length>> ngrams;
  for (std::size_t at = 0; at + length <= ids.size(); ++at) std::copy_n(ids.begin() + static_cast<std::ptrdiff_t>(at), length, ngrams.emplace_back().begin());
  if (ngrams.empty()) return;
  std::ranges::sort(ngrams);
  average.add(static_cast<double>(std::ranges::unique(ngrams).size()) / static_cast<double>(ngrams.size()));
}

}  // namespace

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
  for (std::size_t t = 0; t < shown_turns; ++t) set_average(metrics, metric::of_member(metric::rollout_entropy_by_turn, std::to_string(t + 1)), by_turn[t]);
}

}  // namespace starpo
