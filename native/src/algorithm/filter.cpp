#include "algorithm/filter.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "algorithm/statistics.h"

namespace starpo {
namespace {

// Tolerance for rounding in sums and products of doubles.
constexpr double kRoundingError = 1e-9;

// Returns how many groups a fraction keeps: 0.29 of 100 is 29.
int quota(double keep, std::size_t groups) {
  return std::max(1, static_cast<int>(std::floor(keep * static_cast<double>(groups) + kRoundingError)));
}

// Keeps a fraction of an environment's groups. order: group indices by decreasing reward std. Returns a warning or "".
std::string keep_fraction(const std::vector<int>& order, double keep, FilterResult& result) {
  const int target = quota(keep, order.size());
  for (int rank = 0; rank < target; ++rank) result.kept[order[rank]] = true;
  return result.reward_stds[order[target - 1]] > 0
             ? ""
             : "fewer groups have non-zero reward std than the filter keeps; groups with zero reward std were kept too";
}

std::string keep_top_p(const std::vector<int>& order, double keep, FilterResult& result) {
  double total = 0, sum = 0;
  for (const int group : order) total += result.reward_stds[group];
  const double target = keep * total * (1 - kRoundingError);  // 0.6 of five equal values keeps three
  for (const int group : order) {
    if (result.reward_stds[group] == 0 || (sum > 0 && sum >= target)) break;
    result.kept[group] = true;
    sum += result.reward_stds[group];
  }
  return sum > 0 ? "" : "every group has zero reward std; the filter keeps none and nothing is learned";
}

}  // namespace

void describe(FieldVisitor& v, FilterConfig& c) {
  v.choice("strategy", c.strategy, {"none", "fraction", "top_p"});
  v.number("keep", c.keep, 0, 1);
}

FilterResult filter_groups(std::span<const ScoredGroup> groups, const FilterConfig& config) {
  FilterResult result{std::vector<bool>(groups.size(), config.strategy == FilterStrategy::none), {}, {}};
  std::map<int, std::vector<int>> by_environment;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    result.reward_stds.push_back(reward_std(groups[g].scores));
    by_environment[groups[g].environment].push_back(static_cast<int>(g));
  }
  if (config.strategy == FilterStrategy::none) return result;

  for (auto& [environment, order] : by_environment) {
    std::string warning;
    if (groups[order.front()].scores.size() == 1) {
      for (const int group : order) result.kept[group] = true;
      warning = "the filter has no effect: groups of one episode have no reward std";
    } else {
      std::ranges::stable_sort(order, std::greater{}, [&](int group) { return result.reward_stds[group]; });
      warning = config.strategy == FilterStrategy::fraction ? keep_fraction(order, config.keep, result)
                                                            : keep_top_p(order, config.keep, result);
    }
    if (!warning.empty()) result.warnings.push_back({environment, warning});
  }
  return result;
}

int max_kept_groups(const FilterConfig& config, int groups, int group_size) {
  if (config.strategy != FilterStrategy::fraction || group_size == 1 || groups == 0) return groups;
  return quota(config.keep, static_cast<std::size_t>(groups));
}

}  // namespace starpo
