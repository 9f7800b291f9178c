#include "algorithm/value_loss.h"

#include <algorithm>
#include <vector>

#include "algorithm/statistics.h"

namespace starpo {

double value_loss(std::span<const float> values, std::span<const float> old_values, std::span<const double> returns, double clip, double weight,
                  std::span<float> gradients) {
  double loss = 0;
  for (std::size_t t = 0; t < values.size(); ++t) {
    const double value = values[t], old = old_values[t], error = value - returns[t];
    const double clipped_error = clip > 0 ? std::clamp(value, old - clip, old + clip) - returns[t] : error;
    const bool clipped = clipped_error * clipped_error > error * error;
    const double counted = clipped ? clipped_error : error;
    loss += weight / 2 * counted * counted;
    gradients[t] = clipped ? 0.0f : static_cast<float>(weight * error);
  }
  return loss;
}

std::optional<double> explained_variance(std::span<const double> values, std::span<const double> returns) {
  const double spread = score_spread(returns);
  if (spread == 0) return std::nullopt;
  std::vector<double> errors(returns.size());
  for (std::size_t i = 0; i < errors.size(); ++i) errors[i] = returns[i] - values[i];
  const double left = standard_deviation(errors);
  return 1 - left * left / (spread * spread);
}

}  // namespace starpo
