#include "algorithm/filter.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "algorithm/statistics.h"
#include "fields/field_visitor.h"

namespace starpo {
namespace {

// Tolerance for rounding in sums and products of doubles.
constexpr double kRoundingError = 1e-9;

// Returns how many groups a strategy with a fixed number keeps: fraction 0.29 of 100 is 29.
int quota(const FilterConfig& config, std::size_t groups) {
  if (config.strategy == FilterStrategy::top_k) return std::min(config.count, static_cast<int>(groups));
  return std::max(1, static_cast<int>(std::floor(config.keep * static_cast<double>(groups) + kRoundingError)));
}

// Returns the length of the shortest prefix whose sum reaches `share` of the total, at least 1; 0 without any values,
// and all for a share of 1.
std::size_t prefix_with_share(std::span<const double> values, double share) {
  if (share == 1) return values.size();
  double total = 0, sum = 0;
  for (const double value : values) total += value;
  const double target = share * total * (1 - kRoundingError);  // 0.6 of five equal values is three of them
  std::size_t length = 0;
  while (length < values.size() && (length == 0 || sum < target)) sum += values[length++];
  return length;
}

// Returns how many of the ranked scores, none of them 0, a strategy without a fixed number keeps.
std::size_t chosen_prefix(std::span<const double> ranked, const FilterConfig& config) {
  if (ranked.empty()) return 0;
  const double first = ranked.front();
  const bool largest = config.order == FilterOrder::largest;
  switch (config.strategy) {
    case FilterStrategy::min_p:
      return static_cast<std::size_t>(std::ranges::count_if(ranked, [&](double score) {
        return largest ? score >= config.keep * first * (1 - kRoundingError)
                       : score * config.keep <= first * (1 + kRoundingError);
      }));
    case FilterStrategy::softmax: {
      std::vector<double> probabilities;
      for (const double score : ranked) probabilities.push_back(std::exp(largest ? score - first : first - score));
      return prefix_with_share(probabilities, config.keep);
    }
    default: return prefix_with_share(ranked, config.keep);
  }
}

double score_of(const ScoredGroup& group, FilterScore score) {
  return score == FilterScore::reward_std ? reward_std(group.scores) : mean(group.measurements);
}

const char* name_of(FilterScore score) {
  switch (score) {
    case FilterScore::reward_std: return "reward std";
    case FilterScore::entropy: return "entropy";
    case FilterScore::length: return "length";
  }
  return "";
}

// Marks the kept groups of an environment. order: its groups by rank. Returns a warning or "".
std::string keep_ranked(const std::vector<int>& order, const std::vector<double>& scores, const FilterConfig& config,
                        FilterResult& result) {
  const std::string name = name_of(config.score);
  std::vector<double> ranked;
  for (const int group : order)
    if (scores[group] > 0) ranked.push_back(scores[group]);

  const bool fixed = config.strategy == FilterStrategy::fraction || config.strategy == FilterStrategy::top_k;
  const auto count = fixed ? static_cast<std::size_t>(quota(config, order.size())) : chosen_prefix(ranked, config);
  for (std::size_t rank = 0; rank < count; ++rank) result.kept[order[rank]] = true;
  if (count > ranked.size())
    return "fewer groups have non-zero " + name + " than the filter keeps; groups with zero " + name + " were kept too";
  return count > 0 ? "" : "every group has zero " + name + "; the filter keeps none and nothing is learned";
}

}  // namespace

void describe(FieldVisitor& v, FilterConfig& c) {
  v.choice("strategy", c.strategy, {"none", "fraction", "top_k", "top_p", "min_p", "softmax"});
  v.number("keep", c.keep, 0, 1);
  v.integer("count", c.count, 1, 4096);
  v.choice("score", c.score, {"reward_std", "entropy", "length"});
  v.choice("order", c.order, {"largest", "smallest"});
}

FilterResult filter_groups(std::span<const ScoredGroup> groups, const FilterConfig& config) {
  FilterResult result{std::vector<bool>(groups.size(), config.strategy == FilterStrategy::none), {}, {}};
  std::map<int, std::vector<int>> by_environment;
  std::vector<double> scores;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    result.reward_stds.push_back(reward_std(groups[g].scores));
    scores.push_back(score_of(groups[g], config.score));
    by_environment[groups[g].environment].push_back(static_cast<int>(g));
  }
  if (config.strategy == FilterStrategy::none) return result;

  for (auto& [environment, order] : by_environment) {
    std::string warning;
    if (config.score == FilterScore::reward_std &&
        std::ranges::all_of(order, [&](int group) { return groups[group].scores.size() == 1; })) {
      for (const int group : order) result.kept[group] = true;
      warning = "the filter has no effect: groups of one episode have no reward std";
    } else {
      std::ranges::stable_sort(order, [&](int a, int b) {
        if ((scores[a] > 0) != (scores[b] > 0)) return scores[a] > 0;
        return config.order == FilterOrder::largest ? scores[a] > scores[b] : scores[a] < scores[b];
      });
      warning = keep_ranked(order, scores, config, result);
    }
    if (!warning.empty()) result.warnings.push_back({environment, warning});
  }
  return result;
}

RoundGroups choose_from_rounds(std::span<const ScoredGroup> groups, std::span<const int> per_round,
                               const FilterConfig& config) {
  RoundGroups result{std::vector<bool>(groups.size()), true};
  for (std::size_t environment = 0; environment < per_round.size(); ++environment) {
    const int share = per_round[environment];
    int left = share, varied = 0;
    for (const bool with_std : {true, false}) {
      for (std::size_t g = 0; g < groups.size() && left > 0; ++g) {
        if (groups[g].environment != static_cast<int>(environment) || (reward_std(groups[g].scores) > 0) != with_std)
          continue;
        result.chosen[g] = true;
        --left;
        varied += with_std;
      }
    }
    // Another ranking can keep any of them.
    const bool by_std = config.score == FilterScore::reward_std;
    if (varied < (by_std && share > 0 ? max_kept_groups(config, share, 2) : share)) result.complete = false;
  }
  return result;
}

int max_kept_groups(const FilterConfig& config, int groups, int group_size) {
  const bool fixed = config.strategy == FilterStrategy::fraction || config.strategy == FilterStrategy::top_k;
  if (!fixed || groups == 0 || (group_size == 1 && config.score == FilterScore::reward_std)) return groups;
  return quota(config, static_cast<std::size_t>(groups));
}

}  // namespace starpo
