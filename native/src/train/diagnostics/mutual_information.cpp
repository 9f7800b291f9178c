#include "train/diagnostics/mutual_information.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>

#include "engine/packed_batch.h"
#include "journal/metric_names.h"

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

// Every distinct prompt in the order of its first group; of many, some evenly from all. Groups and members are as good
// as any, so that no lot need be drawn.
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
  Scorer(NetworkPass& pass, float temperature, int micro_batch_tokens, const std::function<void()>& progress,
         std::vector<double>& values)
      : pass_(pass),
        temperature_(temperature),
        most_tokens_(static_cast<std::size_t>(micro_batch_tokens)),
        progress_(progress),
        values_(values) {}

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

double log_mean_exp(std::span<const double> values) {
  const double largest = std::ranges::max(values);
  double sum = 0;
  for (const double value : values) sum += std::exp(value - largest);
  return largest + std::log(sum / static_cast<double>(values.size()));
}

// The chance that a thought's own prompt is among the k likeliest, where ties are broken by lot.
double retrieved(std::span<const double> likelihoods, int own, int k) {
  const double value = likelihoods[static_cast<std::size_t>(own)];
  const auto better = std::ranges::count_if(likelihoods, [&](double other) { return other > value; });
  const auto as_good = std::ranges::count(likelihoods, value);
  return std::clamp(static_cast<double>(k - better) / static_cast<double>(as_good), 0.0, 1.0);
}

// The best that anybody could retrieve: of thoughts that say the same on several prompts, those on the k where it is
// commonest.
double retrieval_ceiling(const ThoughtLikelihoods& likelihoods, int k) {
  std::map<int, std::map<int, int>> counts;  // thought -> prompt -> how often
  for (std::size_t i = 0; i < likelihoods.own.size(); ++i) ++counts[likelihoods.same[i]][likelihoods.own[i]];
  int most = 0;
  for (const auto& [thought, by_prompt] : counts) {
    std::vector<int> often;
    for (const auto& [prompt, count] : by_prompt) often.push_back(count);
    std::ranges::sort(often, std::greater{});
    for (int i = 0; i < k && i < static_cast<int>(often.size()); ++i) most += often[static_cast<std::size_t>(i)];
  }
  return static_cast<double>(most) / static_cast<double>(likelihoods.own.size());
}

}  // namespace

ThoughtLikelihoods thought_likelihoods(NetworkPass& pass, std::span<const Episode> episodes, int samples,
                                       float temperature, int micro_batch_tokens,
                                       const std::function<void()>& progress) {
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
      const auto [place, is_new] =
          numbers.try_emplace(Ids(thought.begin(), thought.end()), static_cast<int>(numbers.size()));
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

void add_mutual_information(const ThoughtLikelihoods& likelihoods, Metrics& metrics) {
  const auto prompts = static_cast<std::size_t>(likelihoods.prompts);
  if (prompts < 2 || likelihoods.own.empty()) return;
  const int k = prompts > 2 ? 2 : 1;
  double matched = 0, marginal = 0, tokens = 0, hits = 0, hits_at_k = 0;
  for (std::size_t i = 0; i < likelihoods.own.size(); ++i) {
    const auto values = std::span(likelihoods.values).subspan(i * prompts, prompts);
    const int own = likelihoods.own[i];
    matched += values[static_cast<std::size_t>(own)];
    marginal += log_mean_exp(values);
    tokens += likelihoods.tokens[i];
    hits += retrieved(values, own, 1);
    hits_at_k += retrieved(values, own, k);
  }
  const auto thoughts = static_cast<double>(likelihoods.own.size());
  const auto set = [&](std::string_view name, double value) { metrics[std::string(name)] = value; };
  set(metric::diagnostics_mutual_information, (matched - marginal) / thoughts);
  set(metric::diagnostics_mutual_information_ceiling, std::log(static_cast<double>(prompts)));
  set(metric::diagnostics_conditional_entropy, -matched / thoughts);
  set(metric::diagnostics_marginal_entropy, -marginal / thoughts);
  set(metric::diagnostics_mutual_information_per_token, (matched - marginal) / tokens);
  set(metric::diagnostics_conditional_entropy_per_token, -matched / tokens);
  set(metric::diagnostics_retrieval_accuracy, hits / thoughts);
  set(metric::diagnostics_retrieval_ceiling, retrieval_ceiling(likelihoods, 1));
  if (k == 1) return;
  set(metric::diagnostics_retrieval_accuracy_at_k, hits_at_k / thoughts);
  set(metric::diagnostics_retrieval_ceiling_at_k, retrieval_ceiling(likelihoods, k));
  set(metric::diagnostics_retrieval_k, k);
}

}  // namespace starpo
