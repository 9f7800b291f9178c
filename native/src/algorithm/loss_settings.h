#pragma once

#include <string>

// Settings of the loss: the sections policy_loss, correction and kl of run.json (docs/algorithms.md).
namespace starpo {

class FieldVisitor;

// The term of a token, with ratio r, advantage A and log-probability log p:
//   clip:  max(-A r, -A clip(r, 1 - clip_low, 1 + clip_high))     PPO (arXiv 1707.06347)
//   cispo: -clip(r, 1 - clip_low, 1 + clip_high) A log p, without a gradient through the ratio (arXiv 2506.13585)
//   sapo:  -A 4 / tau sigmoid(tau (r - 1))                        (arXiv 2511.20347)
//   dppo:  -A r, or 0 for tokens whose probability has moved by more than clip_high or clip_low in the direction of A
//          (arXiv 2602.04879)
enum class PolicyObjective { clip, cispo, sapo, dppo };

// Level of the probability ratio. token: the token's own ratio. turn, sequence: the geometric mean of the token ratios
// of a turn or sample (GSPO, arXiv 2507.18071). trajectory: the product over all tokens of the episode.
enum class RatioLevel { token, turn, sequence, trajectory };

// Weighting of tokens in a mini-batch. n: trajectories in the mini-batch, |o|: trained tokens of a trajectory.
//   trajectory:     1/n sum 1/|o| sum L    mean over a trajectory's tokens, then over trajectories (RAGEN, equation 4)
//   token:          1/(sum |o|) sum L      mean over all tokens of the mini-batch (DAPO, arXiv 2503.14476, section 3.3)
//   trajectory_sum: 1/n sum L              sum over a trajectory's tokens, mean over trajectories
//   fixed_length:   1/(n * longest) sum L  the same divided by the longest possible length (Dr. GRPO, arXiv 2503.20783)
enum class LossAverage { trajectory, token, trajectory_sum, fixed_length };

enum class EntropyTokens { all, reasoning };

// Tokens that decide together whether the likelihood term acts.
enum class LikelihoodGate { response, turn };

struct PolicyLossConfig {
  double clip_low = 0;
  double clip_high = 0;
  double dual_clip = 0;
  double entropy_coefficient = 0;
  LossAverage average = LossAverage::trajectory;
  int mini_batch = 0;
  int epochs = 0;
  PolicyObjective objective = PolicyObjective::clip;
  RatioLevel ratio_level = RatioLevel::token;
  double clip_turn_factor = 1;
  double tau_positive = 1;
  double tau_negative = 1.05;
  EntropyTokens entropy_tokens = EntropyTokens::all;
  double log_ratio_penalty = 0;
  double likelihood_coefficient = 0;
  LikelihoodGate likelihood_gate = LikelihoodGate::turn;
  double cross_entropy_coefficient = 0;
};
void describe(FieldVisitor&, PolicyLossConfig&);

enum class CorrectionWeights { none, truncate, mask };
enum class CorrectionLevel { token, sequence, sequence_mean };
enum class TrustRegion { none, token, sequence_max, sequence_mean, sequence_sum };
enum class Divergence { k2, k3 };

// Corrects for rollouts that another policy or precision sampled.
struct CorrectionConfig {
  CorrectionWeights weights = CorrectionWeights::none;
  CorrectionLevel level = CorrectionLevel::token;
  double low = 0;
  double high = 0;
  TrustRegion trust_region = TrustRegion::none;
  Divergence divergence = Divergence::k3;
  double bound = 0;

  bool is_active() const { return weights != CorrectionWeights::none || trust_region != TrustRegion::none; }
};
void describe(FieldVisitor&, CorrectionConfig&);

enum class KlEstimator { k1, k2, k3 };
enum class KlPlacement { reward, loss };

struct KlConfig {
  double coefficient = 0;
  KlEstimator estimator = KlEstimator::k1;
  KlPlacement placement = KlPlacement::reward;
  std::string reference;  // model folder; empty: initial weights of the run
};
void describe(FieldVisitor&, KlConfig&);

}  // namespace starpo
