#include "train/diagnostics/thought_likelihoods.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "engine/packed_batch.h"

namespace starpo {
namespace {

using Ids = std::vector<std::int32_t>;

std::span<const std::int32_t> thought_of(const Episode& episode) {
  const Turn& turn = episode.turns.front();
  return std::span(turn.ids).first(std::min(turn.ids.size(), static_cast<std::size_t>(turn.think_tokens) + 1));
}

// What was thought on one prompt, by the members of all groups that have it.
struct Level {
  const Ids* prompt = nullptr;
  std::vector<const Episode*> episodes;
};

// Every distinct prompt in the order of its first group; of many, some evenly from all. Groups and members are as good as any, so that no lot need be drawn.
std::vector<Level> choose_levels(std::span<const Episode> episodes) {
  std::vector<Level> all, chosen;
  std::map<Ids, std::size_t> known;
  for (const Episode& episode : episodes) {
    const Ids& prompt = episode.turns.front().context_ids;
    const auto [place, is_new] = known.try_emplace(prompt, all.size());
    if (is_new) all.push_back({&prompt, {}});
    all[place->second].episodes.push_back(&episode);
  }
  const std::size_t count = std::min<std::size_t>(all.size(), most_prompts);
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(std::move(all[i * all.size() / count]));
  return chosen;
}

// Packs pairs of prompt and thought and scores what has come together.
class Scorer {
 public:
  Scorer(NetworkPass& pass, float temperature, int micro_batch_tokens, const std::function<void()>& progress, std::vector<double>& values)
      : pass_(pass), temperature_(temperature), most_tokens_(static_cast<std::size_t>(micro_batch_tokens)), progress_(progress), values_(values) {}

  void add(std::span<const std::int32_t> prompt, std::span<const std::int32_t> thought) {
    if (!batch_.tokens.empty() && batch_.tokens.size() + prompt.size() + thought.size() > most_tokens_) score();
    batch_.tokens.insert(batch_.tokens.end(), prompt.begin(), prompt.end());
    for (const std::int32_t id : thought) {
      batch_.targets.push_back(static_cast<std::int32_t>(batch_.tokens.size()));
      batch_.tokens.push_back(id);
    }
    batch_.sequence_starts.push_back(static_cast<std::int32_t>(batch_.tokens.size()));
    lengths_.push_back(static_cast<std::ptrdiff_t>(thought.size()));
  }

  // What hasn't been scored yet.
  void score() {
    if (lengths_.empty()) return;
    std::vector<float> logprobs(batch_.targets.size()), entropies(batch_.targets.size());
    pass_.forward(batch_, temperature_, logprobs, entropies);
    auto next = logprobs.begin();
    for (const auto length : lengths_) {
      values_.push_back(std::accumulate(next, next + length, 0.0));
      next += length;
    }
    batch_ = {{}, {0}, {}};
    lengths_.clear();
    progress_();
  }

 private:
  NetworkPass& pass_;
  float temperature_;
  std::size_t most_tokens_;
  const std::function<void()>& progress_;
  std::vector<double>& values_;
  PackedBatch batch_{{}, {0}, {}};
  std::vector<std::ptrdiff_t> lengths_;  // of each sequence's thought
};

}  // namespace

ThoughtLikelihoods thought_likelihoods(NetworkPass& pass, std::span<const Episode> episodes, int samples, float temperature, int micro_batch_tokens, const std::function<void()>& progress) {
  const std::vector<Level> levels = choose_levels(episodes);
  ThoughtLikelihoods likelihoods{static_cast<int>(levels.size()), {}, {}, {}, {}};
  if (levels.size() < 2) return likelihoods;
  const std::size_t each = std::max<std::size_t>(1, static_cast<std::size_t>(samples) / levels.size());
  // What is thought more than once is scored once.
  std::map<Ids, int> numbers;
  std::vector<double> scored;
  Scorer scorer(pass, temperature, micro_batch_tokens, progress, scored);
  for (std::size_t own = 0; own < levels.size(); ++own) {
    const auto& thinkers = levels[own].episodes;
    const std::size_t count = std::min(each, thinkers.size());
    for (std::size_t i = 0; i < count; ++i) {
      const auto thought = thought_of(*thinkers[i * thinkers.size() / count]);
      const auto [place, is_new] = numbers.try_emplace(Ids(thought.begin(), thought.end()), static_cast<int>(numbers.size()));
      likelihoods.own.push_back(static_cast<int>(own));
      likelihoods.same.push_back(place->second);
      likelihoods.tokens.push_back(static_cast<int>(thought.size()));
      if (!is_new) continue;
      for (const Level& level : levels) scorer.add(*level.prompt, thought);
    }
  }
  scorer.score();
  for (const int thought : likelihoods.same) {
    const auto values = scored.begin() + static_cast<std::ptrdiff_t>(thought) * likelihoods.prompts;
    likelihoods.values.insert(likelihoods.values.end(), values, values + likelihoods.prompts);
  }
  return likelihoods;
}

}  // namespace starpo
