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

// Returns the unbiased (n - 1) standard deviation, or 0 for fewer than two values. Equal values give exactly 0,
// regardless of rounding.
inline double standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return 0;
  bool equal = true;
  for (double value : values) equal &= value == values.front();
  if (equal) return 0;
  const double center = mean(values);
  double squares = 0;
  for (double value : values) squares += (value - center) * (value - center);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

// Scores that differ by at most this, times the larger of 1 and their size, count as equal. A score sums rewards turn
// by turn, so its last bits depend on the order of additions: ten steps of -0.1 give several doubles near -1. The
// tolerance exceeds the error of 100,000 additions and is below the 1e-6 that group-relative advantages add to the std.
inline constexpr double kScoreTolerance = 1e-9;

inline double score_tolerance(std::span<const double> scores) {
  double size = 1;
  for (const double score : scores) size = std::max(size, std::abs(score));
  return kScoreTolerance * size;
}

// Added to a standard deviation before dividing by it, as in RAGEN.
constexpr double kStdEpsilon = 1e-6;

// Returns the standard deviation of scores, or exactly 0 if all are equal within kScoreTolerance.
inline double reward_std(std::span<const double> scores) {
  if (scores.size() < 2) return 0;
  const auto [low, high] = std::ranges::minmax(scores);
  if (high - low <= score_tolerance(scores)) return 0;
  return standard_deviation(scores);
}

struct Interval {
  double low, high;
};

// Returns the 95 % Wilson score interval of a proportion.
inline Interval wilson_interval(int successes, int trials) {
  constexpr double z = 1.959963984540054;
  const double n = trials, p = successes / n, z2 = z * z;
  const double center = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double half = z * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);
  return {center - half < 0 ? 0 : center - half, center + half > 1 ? 1 : center + half};
}

}  // namespace starpo
