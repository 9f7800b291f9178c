#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace starpo {

inline double mean(std::span<const double> values) {
  double sum = 0;
  for (double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// Unbiased (n - 1) standard deviation; 0 for fewer than two values. All-equal values give exactly 0, whatever the
// rounding of their mean.
inline double standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return 0;
  bool equal = true;
  for (double value : values) equal &= value == values.front();
  if (equal) return 0;
  const double centre = mean(values);
  double squares = 0;
  for (double value : values) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

// Two scores that differ by no more than this, times the larger of 1 and their size, are the same score. Rewards are
// added up turn by turn, so that a sum's last bits tell in which order it came about: ten steps of -0.1 are one of
// several doubles near -1, by how they fell on turns. A hundred thousand additions err by less; a spread that matters
// is more than the 1e-6 that group-relative advantages add to it.
inline constexpr double same_score = 1e-9;

// standard_deviation, but exactly 0 where all scores are the same: whether a group disagrees at all must not hang on
// the order of additions.
inline double score_spread(std::span<const double> scores) {
  if (scores.size() < 2) return 0;
  const auto [low, high] = std::ranges::minmax(scores);
  if (high - low <= same_score * std::max({1.0, std::abs(low), std::abs(high)})) return 0;
  return standard_deviation(scores);
}

struct Interval {
  double low, high;
};

// Wilson's 95 % score interval of a proportion.
inline Interval wilson_interval(int successes, int trials) {
  constexpr double z = 1.959963984540054;
  const double n = trials, p = successes / n, z2 = z * z;
  const double centre = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double half = z * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);
  return {centre - half < 0 ? 0 : centre - half, centre + half > 1 ? 1 : centre + half};
}

}  // namespace starpo
