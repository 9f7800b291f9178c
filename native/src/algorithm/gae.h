#pragma once

#include <span>

namespace starpo {

// Generalised advantage estimation (Schulman et al., arXiv 1506.02438, equation 16) over one trajectory's trained tokens, concatenated over turns; nothing is
// expected after the last. rewards, values, advantages: [tokens]. An advantage plus its value is the return that the critic learns.
void generalised_advantages(std::span<const double> rewards, std::span<const float> values, double gamma, double lambda, std::span<double> advantages);

// Return to go of each token, without any critic: sum over later rewards, each discounted by gamma a token.
void returns_to_go(std::span<const double> rewards, double gamma, std::span<double> returns);

}  // namespace starpo
