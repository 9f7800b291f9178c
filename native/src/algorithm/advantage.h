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

// One advantage an episode, shared by all of its trained tokens. scores: of the episodes of one group.
//   grpo:    (R - mean) / (unbiased std + 1e-6) within the group (DeepSeekMath, arXiv 2402.03300, section 4.1.2)
//   dr_grpo: R - mean (arXiv 2503.20783: dividing by the spread favours groups that are nearly solved or nearly lost)
//   rloo:    R - mean of the others (arXiv 2402.14740)
// Scores that are the same (statistics.h) have none. Errors: std::logic_error for gae, which compares no group.
std::vector<double> group_advantages(std::span<const double> scores, AdvantageEstimator);

// Generalised advantage estimation (Schulman et al., arXiv 1506.02438, equation 16) over one trajectory's trained
// tokens, concatenated over turns; nothing is expected after the last. rewards, values, advantages: [tokens]. An
// advantage plus its value is the return that the critic learns.
void generalised_advantages(std::span<const double> rewards, std::span<const float> values, double gamma, double lambda,
                            std::span<double> advantages);

// Return to go of each token, without any critic: sum over later rewards, each discounted by gamma a token.
void returns_to_go(std::span<const double> rewards, double gamma, std::span<double> returns);

// Mean 0 and unbiased standard deviation 1 over all tokens of an environment's trajectories, each environment's by
// themselves, since a common scale would hand the update to the one with the largest rewards; fewer than two tokens
// stay as they are. advantages: [trajectories][tokens], environments: [trajectories].
void whiten(std::span<std::vector<double>> advantages, std::span<const int> environments);

}  // namespace starpo
