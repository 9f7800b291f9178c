#pragma once

#include <span>
#include <vector>

#include "algorithm/objectives.h"

// The loss of a sample from its log-probabilities, with every option of docs/algorithms.md. The engines' fused loss
// (objectives.h) computes the common case in one pass; the others take the gradients of this loss.
namespace starpo {

struct LossConfig {
  PolicyLossConfig policy;
  CorrectionConfig correction;
  KlConfig kl;  // coefficient 0: no KL term in the loss
};

// Returns whether the engines' fused loss computes this one: ratios of tokens, PPO's clip with one range, no
// corrections and no further terms.
bool is_fused(const LossConfig&);

// The trained tokens of an episode, or of a part of it. Lists: [tokens].
struct LossSample {
  std::vector<double> logprobs, entropies;
  std::vector<double> rollout_logprobs;  // of the policy that sampled
  std::vector<double> old_logprobs;      // of the policy before the update
  std::vector<double> advantages;
  std::vector<double> reference_logprobs;  // with a KL term
  std::vector<bool> reasoning;             // with EntropyTokens::reasoning
  std::vector<double> imitation;           // weights of the cross-entropy; empty: all 0
  std::vector<int> turn_lengths;           // tokens of each turn, in order
  int first_turn = 0;                      // its index within the episode
  double other_log_ratios = 0;             // sum of log-ratios over the episode's other samples
};

// Weight of each token of a sample in the components of the loss. Each component has its own denominator.
struct SampleWeights {
  double policy = 0;         // also of KL and the log-ratio penalty
  double entropy = 0;        // of the tokens that get an entropy bonus
  double likelihood = 0;     // mean over all tokens of the mini-batch
  double cross_entropy = 0;  // mean over the mini-batch, weighted by `imitation`
};

struct SampleTokens {
  int trajectory = 0;
  int trained = 0;
  int reasoning = 0;
  double imitation = 0;  // sum of the weights of the cross-entropy
};

// Returns the weights of the samples of a mini-batch.
std::vector<SampleWeights> sample_weights(std::span<const SampleTokens>, const PolicyLossConfig&, int longest);

// Adds the loss of a sample to the sums. Writes d(loss)/d(logprob) and d(loss)/d(entropy): [tokens].
void sample_loss(const LossSample&, const SampleWeights&, const LossConfig&, PolicyLossSums&,
                 std::span<double> logprob_gradients, std::span<double> entropy_gradients);

// Returns the factor of each token's policy term that corrects for old = before the update and rollout = at sampling:
// with rho = old / rollout of a token or sequence, clamped to [low, high] (truncated importance sampling, TIS) or 0
// outside (masked, MIS); and 0 outside the trust region. Adds to the sums.
std::vector<double> correction_weights(std::span<const double> old_logprobs, std::span<const double> rollout_logprobs,
                                       std::span<const double> advantages, const CorrectionConfig&, PolicyLossSums&);

}  // namespace starpo
