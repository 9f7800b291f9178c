#include "train/diagnostics/mutual_information.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>

#include "journal/metric_names.h"

namespace starpo {
namespace {

using Ids = std::vector<std::int32_t>;

std::span<const std::int32_t> reasoning_of(const Episode& episode) {
  const Turn& turn = episode.turns.front();
  return std::span(turn.ids).first(std::min(turn.ids.size(), static_cast<std::size_t>(turn.think_tokens) + 1));
}

// The episodes of all groups with the same prompt.
struct PromptEpisodes {
  const Ids* prompt = nullptr;
  std::vector<const Episode*> episodes;
};

// Returns at most kMaxPrompts distinct prompts, evenly spaced in the order of their first group.
std::vector<PromptEpisodes> choose_prompts(std::span<const Episode> episodes) {
  std::vector<PromptEpisodes> all, chosen;
  std::map<Ids, std::size_t> index_by_prompt;
  for (const Episode& episode : episodes) {
    const Ids& prompt = episode.turns.front().context_ids;
    const auto [entry, is_new] = index_by_prompt.try_emplace(prompt, all.size());
    if (is_new) all.push_back({&prompt, {}});
    all[entry->second].episodes.push_back(&episode);
  }
  const std::size_t count = std::min<std::size_t>(all.size(), kMaxPrompts);
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(std::move(all[i * all.size() / count]));
  return chosen;
}

// Packs pairs of prompt and reasoning into micro-batches and scores them.
class Scorer {
 public:
  Scorer(NetworkPass& pass, float temperature, int micro_batch_tokens, const std::function<void()>& progress,
         std::vector<double>& values)
      : pass_(pass),
        temperature_(temperature),
        max_tokens_(static_cast<std::size_t>(micro_batch_tokens)),
        progress_(progress),
        values_(values) {}

  void add(std::span<const std::int32_t> prompt, std::span<const std::int32_t> reasoning) {
    if (!batch_.tokens.empty() && batch_.tokens.size() + prompt.size() + reasoning.size() > max_tokens_) score();
    batch_.tokens.insert(batch_.tokens.end(), prompt.begin(), prompt.end());
    for (const std::int32_t id : reasoning) {
      batch_.targets.push_back(static_cast<std::int32_t>(batch_.tokens.size()));
      batch_.tokens.push_back(id);
    }
    batch_.sequence_starts.push_back(static_cast<std::int32_t>(batch_.tokens.size()));
    lengths_.push_back(static_cast<std::ptrdiff_t>(reasoning.size()));
  }

  // Scores the pending pairs.
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
  std::size_t max_tokens_;
  const std::function<void()>& progress_;
  std::vector<double>& values_;
  PackedBatch batch_{{}, {0}, {}};
  std::vector<std::ptrdiff_t> lengths_;  // reasoning tokens per sequence
};

double log_mean_exp(std::span<const double> values) {
  const double largest = std::ranges::max(values);
  double sum = 0;
  for (const double value : values) sum += std::exp(value - largest);
  return largest + std::log(sum / static_cast<double>(values.size()));
}

// Returns the probability that a text's own prompt is among the k most likely, with ties broken at random.
double retrieval_probability(std::span<const double> likelihoods, int own, int k) {
  const double value = likelihoods[static_cast<std::size_t>(own)];
  const auto better = std::ranges::count_if(likelihoods, [&](double other) { return other > value; });
  const auto tied = std::ranges::count(likelihoods, value);
  return std::clamp(static_cast<double>(k - better) / static_cast<double>(tied), 0.0, 1.0);
}

// Returns the best possible retrieval accuracy at k: where prompts share a reasoning text, only its k most frequent
// prompts can be retrieved.
double retrieval_ceiling(const ReasoningLikelihoods& likelihoods, int k) {
  std::map<int, std::map<int, int>> counts;  // reasoning -> prompt -> count
  for (std::size_t i = 0; i < likelihoods.own_prompts.size(); ++i)
    ++counts[likelihoods.text_ids[i]][likelihoods.own_prompts[i]];
  int most = 0;
  for (const auto& [reasoning, by_prompt] : counts) {
    std::vector<int> frequencies;
    for (const auto& [prompt, count] : by_prompt) frequencies.push_back(count);
    std::ranges::sort(frequencies, std::greater{});
    for (int i = 0; i < k && i < static_cast<int>(frequencies.size()); ++i)
      most += frequencies[static_cast<std::size_t>(i)];
  }
  return static_cast<double>(most) / static_cast<double>(likelihoods.own_prompts.size());
}

}  // namespace

ReasoningLikelihoods reasoning_likelihoods(NetworkPass& pass, std::span<const Episode> episodes, int samples,
                                           float temperature, int micro_batch_tokens,
                                           const std::function<void()>& progress) {
  const std::vector<PromptEpisodes> prompts = choose_prompts(episodes);
  ReasoningLikelihoods likelihoods{static_cast<int>(prompts.size()), {}, {}, {}, {}};
  if (prompts.size() < 2) return likelihoods;
  const std::size_t texts_per_prompt = std::max<std::size_t>(1, static_cast<std::size_t>(samples) / prompts.size());
  // Score repeated reasoning once.
  std::map<Ids, int> text_ids;
  std::vector<double> scored;
  Scorer scorer(pass, temperature, micro_batch_tokens, progress, scored);
  for (std::size_t own = 0; own < prompts.size(); ++own) {
    const auto& own_episodes = prompts[own].episodes;
    const std::size_t count = std::min(texts_per_prompt, own_episodes.size());
    for (std::size_t i = 0; i < count; ++i) {
      const auto reasoning = reasoning_of(*own_episodes[i * own_episodes.size() / count]);
      const auto [entry, is_new] =
          text_ids.try_emplace(Ids(reasoning.begin(), reasoning.end()), static_cast<int>(text_ids.size()));
      likelihoods.own_prompts.push_back(static_cast<int>(own));
      likelihoods.text_ids.push_back(entry->second);
      likelihoods.tokens.push_back(static_cast<int>(reasoning.size()));
      if (!is_new) continue;
      for (const PromptEpisodes& other : prompts) scorer.add(*other.prompt, reasoning);
    }
  }
  scorer.score();
  for (const int reasoning : likelihoods.text_ids) {
    const auto values = scored.begin() + static_cast<std::ptrdiff_t>(reasoning) * likelihoods.prompts;
    likelihoods.values.insert(likelihoods.values.end(), values, values + likelihoods.prompts);
  }
  return likelihoods;
}

void add_mutual_information(const ReasoningLikelihoods& likelihoods, Metrics& metrics) {
  const auto prompts = static_cast<std::size_t>(likelihoods.prompts);
  if (prompts < 2 || likelihoods.own_prompts.empty()) return;
  const int k = prompts > 2 ? 2 : 1;
  double matched = 0, marginal = 0, tokens = 0, hits = 0, hits_at_k = 0;
  for (std::size_t i = 0; i < likelihoods.own_prompts.size(); ++i) {
    const auto values = std::span(likelihoods.values).subspan(i * prompts, prompts);
    const int own = likelihoods.own_prompts[i];
    matched += values[static_cast<std::size_t>(own)];
    marginal += log_mean_exp(values);
    tokens += likelihoods.tokens[i];
    hits += retrieval_probability(values, own, 1);
    hits_at_k += retrieval_probability(values, own, k);
  }
  const auto texts = static_cast<double>(likelihoods.own_prompts.size());
  const auto set = [&](std::string_view name, double value) { metrics[std::string(name)] = value; };
  set(metric::kDiagnosticsMutualInformation, (matched - marginal) / texts);
  set(metric::kDiagnosticsMutualInformationCeiling, std::log(static_cast<double>(prompts)));
  set(metric::kDiagnosticsConditionalEntropy, -matched / texts);
  set(metric::kDiagnosticsMarginalEntropy, -marginal / texts);
  set(metric::kDiagnosticsMutualInformationPerToken, (matched - marginal) / tokens);
  set(metric::kDiagnosticsConditionalEntropyPerToken, -matched / tokens);
  set(metric::kDiagnosticsRetrievalAccuracy, hits / texts);
  set(metric::kDiagnosticsRetrievalCeiling, retrieval_ceiling(likelihoods, 1));
  if (k == 1) return;
  set(metric::kDiagnosticsRetrievalAccuracyAtK, hits_at_k / texts);
  set(metric::kDiagnosticsRetrievalCeilingAtK, retrieval_ceiling(likelihoods, k));
  set(metric::kDiagnosticsRetrievalK, k);
}

}  // namespace starpo
