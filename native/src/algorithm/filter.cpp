#include "algorithm/filter.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "algorithm/statistics.h"

namespace starpo {
namespace {

// What sums and products of doubles may fall short of the number that was meant.
constexpr double rounding = 1e-9;

// How many of an environment's groups a fraction keeps: 0.29 of 100 is 29.
int quota(double keep, std::size_t groups) {
  return std::max(1, static_cast<int>(std::floor(keep * static_cast<double>(groups) + rounding)));
}

// Keeps some of an environment's groups, which `order` names by falling spread. Returns what is to be said of it.
std::string keep_fraction(const std::vector<int>& order, double keep, FilterResult& result) {
  const int wanted = quota(keep, order.size());
  for (int rank = 0; rank < wanted; ++rank) result.kept[order[rank]] = true;
  return result.spread[order[wanted - 1]] > 0
             ? ""
             : "fewer groups had differing rewards than the filter keeps: groups that ended alike were trained on too";
}

std::string keep_top_p(const std::vector<int>& order, double keep, FilterResult& result) {
  double total = 0, sum = 0;
  for (const int group : order) total += result.spread[group];
  const double wanted = keep * total * (1 - rounding);  // 0.6 of five equal spreads is three of them
  for (const int group : order) {
    if (result.spread[group] == 0 || (sum > 0 && sum >= wanted)) break;
    result.kept[group] = true;
    sum += result.spread[group];
  }
  return sum > 0 ? "" : "no group has reward spread: the filter keeps none, and nothing is learned from them";
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
    result.spread.push_back(score_spread(groups[g].scores));
    by_environment[groups[g].environment].push_back(static_cast<int>(g));
  }
  if (config.strategy == FilterStrategy::none) return result;

  for (auto& [environment, order] : by_environment) {
    std::string warning;
    if (groups[order.front()].scores.size() == 1) {
      for (const int group : order) result.kept[group] = true;
      warning = "the filter is off: groups of one episode have no spread";
    } else {
      std::ranges::stable_sort(order, std::greater{}, [&](int group) { return result.spread[group]; });
      warning = config.strategy == FilterStrategy::fraction ? keep_fraction(order, config.keep, result)
                                                            : keep_top_p(order, config.keep, result);
    }
    if (!warning.empty()) result.warnings.push_back({environment, warning});
  }
  return result;
}

int most_kept_groups(const FilterConfig& config, int groups, int group_size) {
  if (config.strategy != FilterStrategy::fraction || group_size == 1 || groups == 0) return groups;
  return quota(config.keep, static_cast<std::size_t>(groups));
}

}  // namespace starpo
