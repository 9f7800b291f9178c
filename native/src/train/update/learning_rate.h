#pragma once

#include <algorithm>
#include <cstdint>

#include "base/reproducible_math.h"
#include "config/run_config.h"

namespace starpo {

// `rate` as one optimiser step has it: linear warm-up over steps (the first has 1 / (warmup + 1) of the rate), times the schedule's factor of the iteration.
inline double scheduled_rate(double rate, const RunConfig& config, int iteration, std::int64_t steps_done) {
  const OptimizerConfig& optimizer = config.optimizer;
  const double warmup = std::min(1.0, static_cast<double>(steps_done + 1) / (optimizer.warmup + 1));
  const double progress = static_cast<double>(iteration - 1) / config.iterations;
  double factor = 1;
  if (optimizer.schedule == LearningRateSchedule::linear) factor = 1 - progress;
  if (optimizer.schedule == LearningRateSchedule::cosine) factor = 0.5 * (1 + reproducible_cos(3.14159265358979323846 * progress));
  return rate * warmup * factor;
}

inline double learning_rate(const RunConfig& config, int iteration, std::int64_t steps_done) {
  return scheduled_rate(config.optimizer.learning_rate, config, iteration, steps_done);
}

}  // namespace starpo
