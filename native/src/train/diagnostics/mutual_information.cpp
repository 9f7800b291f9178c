#include "train/diagnostics/mutual_information.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "journal/metric_names.h"

namespace starpo {
namespace {

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

// The best that anybody could retrieve: of thoughts that say the same on several prompts, those on the k where it is commonest.
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
