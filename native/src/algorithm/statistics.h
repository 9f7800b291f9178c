#pragma once

#include <cmath>
#include <span>

namespace starpo {

inline double mean(std::span<const double> values) {
  double sum = 0;
  for (double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// Unbiased (n - 1) standard deviation; 0 for fewer than two values. All-equal values give exactly 0, whatever the rounding of their mean.
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
