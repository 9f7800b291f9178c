#include "algorithm/gae.h"

namespace starpo {

void generalised_advantages(std::span<const double> rewards, std::span<const float> values, double gamma, double lambda, std::span<double> advantages) {
  double next_value = 0, next_advantage = 0;
  for (std::size_t t = rewards.size(); t-- > 0;) {
    const double error = rewards[t] + gamma * next_value - values[t];  // the temporal difference residual, equation 9
    next_advantage = advantages[t] = error + gamma * lambda * next_advantage;
    next_value = values[t];
  }
}

void returns_to_go(std::span<const double> rewards, double gamma, std::span<double> returns) {
  double sum = 0;
  for (std::size_t t = rewards.size(); t-- > 0;) returns[t] = sum = rewards[t] + gamma * sum;
}

}  // namespace starpo
