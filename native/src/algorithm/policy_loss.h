#pragma once

#include <span>
#include <vector>

#include "fields/field_visitor.h"

namespace starpo {

enum class LossAverage { trajectory, token, trajectory_sum, fixed_length };

struct PolicyLossConfig {
  double clip_low = 0;
  double clip_high = 0;
  double dual_clip = 0;
  double entropy_coefficient = 0;
  LossAverage average = LossAverage::trajectory;
  int mini_batch = 0;
  int epochs = 0;
};
void describe(FieldVisitor&, PolicyLossConfig&);

// The weight of each trajectory's tokens in a mini-batch's loss. trained_tokens: [trajectories] count of each; longest: most tokens a trajectory can train.
//   trajectory:     mean over a trajectory's tokens, then over trajectories (RAGEN, arXiv 2504.20073, equation 4)
//   token:          mean over all tokens of the mini-batch
//   trajectory_sum: sum over a trajectory's tokens, mean over trajectories
//   fixed_length:   the same divided by the longest possible length (Dr. GRPO, arXiv 2503.20783)
// A function of the mini-batch alone, so the loss never depends on how it is cut into micro-batches.
std::vector<double> token_weights(std::span<const int> trained_tokens, LossAverage, int longest);

struct PolicyLossSums {
  double loss = 0;            // weighted
  double entropy = 0;         // plain sums over tokens from here on
  double clipped_low = 0;     // tokens whose gradient the lower clip removed
  double clipped_high = 0;
  double log_ratio = 0;       // rollout - update log-probability
  long tokens = 0;
};

// The clipped policy objective with entropy bonus (PPO, arXiv 1707.06347, equation 7; asymmetric clip: DAPO, arXiv 2503.14476, equation 10; dual clip: arXiv 1912.09729,
// equation 5), for a run of tokens of one trajectory: one weight. Adds to sums and writes d(loss)/d(logprob) and d(loss)/d(entropy). All spans: [tokens].
void policy_loss(std::span<const float> logprobs, std::span<const float> entropies, std::span<const float> rollout_logprobs, std::span<const double> advantages,
                 double weight, const PolicyLossConfig&, PolicyLossSums&, std::span<float> logprob_gradients, std::span<float> entropy_gradients);

}  // namespace starpo
