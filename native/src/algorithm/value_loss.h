#pragma once

#include <optional>
#include <span>

namespace starpo {

// The critic's loss for a run of tokens: weight / 2 * the larger of the squared errors of the value and of the value kept within `clip` of the one before the update
// (as PPO's reference implementation has it; clip 0: of the value alone). Writes d(loss)/d(value) and returns the loss. All spans: [tokens].
double value_loss(std::span<const float> values, std::span<const float> old_values, std::span<const double> returns, double clip, double weight,
                  std::span<float> gradients);

// 1 - variance(returns - values) / variance(returns): 1 for a critic that knows every return, 0 for one that knows their mean alone, negative for a worse one.
// Nothing where the returns don't differ.
std::optional<double> explained_variance(std::span<const double> values, std::span<const double> returns);

}  // namespace starpo
