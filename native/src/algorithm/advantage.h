#pragma once

#include <span>
#include <string>
#include <vector>

// Advantage estimators (docs/algorithms.md). An estimator reads the rewards of episodes and returns an advantage for
// every trained token. It reads neither episodes of the rollout nor positions in a batch.
namespace starpo {

class FieldVisitor;

// Estimators that compare episodes, then those that compare turns too, then those without a group, then those with a
// critic.
enum class AdvantageEstimator {
  grpo,
  dr_grpo,
  rloo,
  loop,
  maxrl,
  gigpo,
  hgpo,
  reinforce_plus_plus,
  gae,
  bi_level_gae,
  trajectory_baseline,
  turn_baseline
};

// Position of rewards. episode: the score, at the last token of the episode. turn: each turn's reward, at its last
// token.
enum class RewardPosition { episode, turn };

// What counts once in the mean and standard deviation of whitening. With tokens, long episodes weigh more.
enum class WhitenOver { tokens, episodes };

struct AdvantageConfig {
  AdvantageEstimator estimator = AdvantageEstimator::grpo;
  double gamma = 0;
  double lambda = 0;
  bool whiten = false;
  WhitenOver whiten_over = WhitenOver::tokens;
  RewardPosition rewards = RewardPosition::episode;
  double turn_gamma = 1;
  bool scale_by_std = true;
  double step_weight = 1;
  int history = 2;
  double history_exponent = 1;
  bool episode_term = false;
  double gate = 0;  // groups whose advantages are at most this large are not trained on; 0: none
};
void describe(FieldVisitor&, AdvantageConfig&);

// Returns whether the estimator needs a critic's values.
bool uses_critic(AdvantageEstimator);

// Returns whether advantages compare an episode or turn with others of its group.
bool compares_in_group(AdvantageEstimator);

// Returns whether advantages depend on the turns in which rewards were received.
bool reads_turn_rewards(AdvantageEstimator);

struct TurnRewards {
  int tokens = 0;  // trained tokens, at least 1
  double reward = 0;
  std::string state;  // turns of a group with equal states are compared (gigpo, hgpo)
};

// Sum of a named reward term over an episode, and its weight among the terms.
struct ScoreTerm {
  std::string name;
  double value = 0;
  double weight = 1;
};

struct EpisodeRewards {
  int group = 0;
  int environment = 0;
  std::vector<TurnRewards> turns;  // at least one
  std::vector<double> kl_rewards;  // [tokens], at most 0 on average; empty: none
  std::vector<double> values;      // [tokens], with a critic
  std::vector<ScoreTerm> terms;    // parts of the score, for a normalization per term

  std::size_t tokens() const;
  double score() const;  // sum of the turns' rewards
};

struct TokenAdvantages {
  std::vector<double> advantages;     // [tokens]
  std::vector<double> value_targets;  // [tokens] with a critic, else empty
  std::vector<bool> value_mask;       // [tokens] with a critic: tokens whose value is trained
};

// Returns the advantages of each episode, before whitening. Episodes with the same `group` are compared.
std::vector<TokenAdvantages> token_advantages(std::span<const EpisodeRewards>, const AdvantageConfig&);

// Returns for each episode whether a token of its group has an advantage above the gate, in size. All episodes pass a
// gate of 0.
std::vector<bool> passes_gate(std::span<const EpisodeRewards>, std::span<const TokenAdvantages>, double gate);

// Returns one advantage per episode, shared by its trained tokens. scores: the episodes of one group.
//   grpo:    (R - mean) / (unbiased std + 1e-6) within the group (DeepSeekMath, arXiv 2402.03300, section 4.1.2)
//   dr_grpo: R - mean (arXiv 2503.20783: dividing by the std favors groups that nearly always succeed or fail)
//   rloo:    R - mean of the others, or R for a single episode (arXiv 2402.14740)
//   loop:    R - mean of the others, or 0 for a single episode (arXiv 2502.01600)
//   maxrl:   (R - mean) / mean, or 0 if the mean is not above 0 (arXiv 2602.02710)
// Equal scores (statistics.h) have advantage 0. Errors: std::logic_error for the other estimators.
std::vector<double> group_advantages(std::span<const double> scores, AdvantageEstimator);

// Computes generalized advantage estimates (Schulman et al., arXiv 1506.02438, equation 16) over one trajectory's
// trained tokens, concatenated over turns. The value after the last token is 0. rewards, values, advantages: [tokens].
// The critic's target is advantage plus value.
void generalized_advantages(std::span<const double> rewards, std::span<const double> values, double gamma,
                            double lambda, std::span<double> advantages);

// Computes the return to go of each token without a critic: the sum of rewards from the token on, discounted by gamma
// per token.
void returns_to_go(std::span<const double> rewards, double gamma, std::span<double> returns);

// Normalizes advantages to mean 0 and unbiased standard deviation 1 over all tokens of an environment, or over its
// episodes, where each counts by the mean over its tokens. Environments are normalized separately, since with a common
// scale the one with the largest rewards would dominate. Fewer than two tokens or episodes are left unchanged.
// advantages: [trajectories][tokens], environments: [trajectories].
void whiten(std::span<std::vector<double>> advantages, std::span<const int> environments,
            WhitenOver over = WhitenOver::tokens);

}  // namespace starpo
