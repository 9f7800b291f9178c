#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace starpo {

// How far the update's log-probabilities, before its first step, are from those that the rollout wrote down.
struct LogprobGap {
  double sum = 0, largest = 0, kl = 0;
  std::int64_t tokens = 0;

  // difference: the update's log-probability of a sampled token minus the rollout's.
  void add(double difference) {
    sum += std::abs(difference);
    largest = std::max(largest, std::abs(difference));
    kl += std::expm1(difference) - difference;  // k3: its mean over the rollout's samples estimates KL(rollout || update)
    ++tokens;
  }
};

}  // namespace starpo
