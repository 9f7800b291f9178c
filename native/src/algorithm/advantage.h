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

// Returns one advantage per episode, shared by its trained tokens. scores: the episodes of one group.
//   grpo:    (R - mean) / (unbiased std + 1e-6) within the group (DeepSeekMath, arXiv 2402.03300, section 4.1.2)
//   dr_grpo: R - mean (arXiv 2503.20783: dividing by the std favors groups that nearly always succeed or fail)
//   rloo:    R - mean of the others (arXiv 2402.14740)
// Equal scores (statistics.h) have advantage 0. Errors: std::logic_error for gae, which does not use groups.
std::vector<double> group_advantages(std::span<const double> scores, AdvantageEstimator);

// Computes generalized advantage estimates (Schulman et al., arXiv 1506.02438, equation 16) over one trajectory's
// trained tokens, concatenated over turns. The value after the last token is 0. rewards, values, advantages: [tokens].
// The critic's target is advantage plus value.
void generalized_advantages(std::span<const double> rewards, std::span<const float> values, double gamma, double lambda,
                            std::span<double> advantages);

// Computes the return to go of each token without a critic: the sum of rewards from the token on, discounted by gamma
// per token.
void returns_to_go(std::span<const double> rewards, double gamma, std::span<double> returns);

// Normalizes advantages to mean 0 and unbiased standard deviation 1 over all tokens of an environment. Environments are
// normalized separately, since with a common scale the one with the largest rewards would dominate. Fewer than two
// tokens are left unchanged. advantages: [trajectories][tokens], environments: [trajectories].
void whiten(std::span<std::vector<double>> advantages, std::span<const int> environments);

}  // namespace starpo
