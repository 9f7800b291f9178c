#pragma once

#include <span>
#include <vector>

#include "fields/field_visitor.h"

namespace starpo {

enum class AdvantageEstimator { grpo, dr_grpo, rloo, gae };

struct AdvantageConfig {
  AdvantageEstimator estimator = AdvantageEstimator::grpo;
  double gamma = 0;
  double lambda = 0;
  bool whiten = false;
};
void describe(FieldVisitor&, AdvantageConfig&);

// One advantage an episode, shared by all of its trained tokens. scores: [groups * group_size], group by group.
//   grpo:    (R - mean) / (unbiased std + 1e-6) within the group (DeepSeekMath, arXiv 2402.03300, section 4.1.2)
//   dr_grpo: R - mean (arXiv 2503.20783: dividing by the spread favours groups that are nearly solved or nearly lost)
//   rloo:    R - mean of the others (arXiv 2402.14740)
std::vector<double> group_advantages(std::span<const double> scores, int group_size, AdvantageEstimator);

// Mean 0 and unbiased standard deviation 1 over all of them; fewer than two stay as they are.
void whiten(std::span<std::vector<double>> advantages);

}  // namespace starpo
