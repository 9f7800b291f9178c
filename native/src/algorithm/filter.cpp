#include "algorithm/filter.h"

#include <algorithm>
#include <numeric>

#include "algorithm/statistics.h"

namespace starpo {

void describe(FieldVisitor& v, FilterConfig& c) {
  v.choice("strategy", c.strategy, {"none", "fraction", "top_p"});
  v.number("keep", c.keep, 0, 1);
}

FilterResult filter_groups(std::span<const double> scores, int group_size, FilterStrategy strategy, double keep) {
  const int groups = static_cast<int>(scores.size()) / group_size;
  FilterResult result{std::vector<bool>(groups, false), std::vector<double>(groups), {}};
  for (int g = 0; g < groups; ++g) result.spread[g] = standard_deviation(scores.subspan(static_cast<std::size_t>(g) * group_size, group_size));

  if (strategy == FilterStrategy::none || group_size == 1) {
    result.kept.assign(groups, true);
    if (strategy != FilterStrategy::none) result.warning = "the filter is off: groups of one episode have no spread";
    return result;
  }

  std::vector<int> order(groups);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return result.spread[a] > result.spread[b]; });

  if (strategy == FilterStrategy::fraction) {
    const int quota = std::max(1, static_cast<int>(keep * groups));
    for (int rank = 0; rank < quota; ++rank) result.kept[order[rank]] = true;
    if (result.spread[order[quota - 1]] == 0) result.warning = "fewer groups with reward spread than the filter keeps: groups without spread fill its quota";
    return result;
  }

  const double wanted = keep * std::accumulate(result.spread.begin(), result.spread.end(), 0.0);
  double sum = 0;
  for (int group : order) {
    if (result.spread[group] == 0 || (sum > 0 && sum >= wanted)) break;
    result.kept[group] = true;
    sum += result.spread[group];
  }
  if (sum == 0) result.warning = "no group has reward spread: the filter keeps none and the iteration makes no update";
  return result;
}

}  // namespace starpo
