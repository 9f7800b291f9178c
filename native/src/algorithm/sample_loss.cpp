#include "algorithm/sample_loss.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "algorithm/statistics.h"

namespace starpo {
namespace {

// Tokens with a common ratio or gate: [first, first + count), and their turn within the episode.
struct Segment {
  std::size_t first, count;
  int turn;
};

std::vector<Segment> turns_of(const LossSample& sample) {
  std::vector<Segment> segments;
  std::size_t first = 0;
  for (std::size_t k = 0; k < sample.turn_lengths.size(); ++k) {
    const auto count = static_cast<std::size_t>(sample.turn_lengths[k]);
    segments.push_back({first, count, sample.first_turn + static_cast<int>(k)});
    first += count;
  }
  return segments;
}

std::vector<double> log_ratios_of(const LossSample& sample) {
  std::vector<double> result(sample.logprobs.size());
  std::ranges::transform(sample.logprobs, sample.old_logprobs, result.begin(), std::minus{});
  return result;
}

// Returns the log-ratio that weights and clips each token.
std::vector<double> level_log_ratios(const LossSample& sample, std::vector<double> own, RatioLevel level) {
  if (level == RatioLevel::token) return own;
  if (level == RatioLevel::trajectory) {
    const double sum = std::accumulate(own.begin(), own.end(), sample.other_log_ratios);
    return std::vector<double>(own.size(), sum);
  }
  if (level == RatioLevel::sequence) return std::vector<double>(own.size(), mean(own));
  for (const auto [first, count, turn] : turns_of(sample)) {
    const auto part = std::span(own).subspan(first, count);
    std::ranges::fill(part, mean(part));
  }
  return own;
}

TokenLoss cispo_term(double ratio, double logprob, double advantage, double low, double high) {
  const double weight = std::clamp(ratio, 1 - low, 1 + high);
  return {-weight * advantage * logprob, -weight * advantage, ratio < 1 - low ? -1 : ratio > 1 + high ? 1 : 0};
}

TokenLoss sapo_term(double ratio, double advantage, double tau) {
  const double gate = 1 / (1 + reproducible_exp(-tau * (ratio - 1)));
  return {-advantage * 4 / tau * gate, -advantage * 4 * gate * (1 - gate) * ratio, 0};
}

TokenLoss dppo_term(double ratio, double probability, double old_probability, double advantage, double low,
                    double high) {
  const double moved = probability - old_probability;
  if (advantage > 0 && moved > high) return {0, 0, 1};
  if (advantage < 0 && moved < -low) return {0, 0, -1};
  return {-advantage * ratio, -advantage * ratio, 0};
}

// Returns d = log old - log p where the likelihood of good tokens may not sink, else 0 (LLDS, arXiv 2512.04220). Good
// tokens have an advantage of at least 0. A segment whose total likelihood of good tokens did not fall has no loss.
std::vector<double> lost_likelihood(const LossSample& sample, std::span<const double> log_ratios, LikelihoodGate gate) {
  std::vector<double> lost(log_ratios.size());
  const auto segments =
      gate == LikelihoodGate::turn ? turns_of(sample) : std::vector<Segment>{{0, log_ratios.size(), sample.first_turn}};
  for (const auto [first, count, turn] : segments) {
    double sum = 0;
    for (std::size_t t = first; t < first + count; ++t)
      if (sample.advantages[t] >= 0) sum -= log_ratios[t];
    if (sum <= 0) continue;
    for (std::size_t t = first; t < first + count; ++t)
      if (sample.advantages[t] >= 0) lost[t] = std::max(0.0, -log_ratios[t]);
  }
  return lost;
}

// Returns the factor of the clip range of each token.
std::vector<double> clip_scales(const LossSample& sample, double turn_factor) {
  std::vector<double> scales(sample.logprobs.size(), 1);
  if (turn_factor == 1) return scales;
  for (const auto [first, count, turn] : turns_of(sample))
    std::ranges::fill(std::span(scales).subspan(first, count), std::pow(turn_factor, turn));
  return scales;
}

}  // namespace

bool is_fused(const LossConfig& config) {
  const PolicyLossConfig& policy = config.policy;
  return policy.objective == PolicyObjective::clip && policy.ratio_level == RatioLevel::token &&
         policy.clip_turn_factor == 1 && !config.correction.is_active() && policy.log_ratio_penalty == 0 &&
         policy.likelihood_coefficient == 0 && policy.cross_entropy_coefficient == 0 &&
         (policy.entropy_coefficient == 0 || policy.entropy_tokens == EntropyTokens::all);
}

std::vector<SampleWeights> sample_weights(std::span<const SampleTokens> samples, const PolicyLossConfig& config,
                                          int longest) {
  std::vector<int> trajectories, trained, with_entropy;
  double imitation = 0;
  for (const SampleTokens& sample : samples) {
    trajectories.push_back(sample.trajectory);
    trained.push_back(sample.trained);
    with_entropy.push_back(config.entropy_tokens == EntropyTokens::all ? sample.trained : sample.reasoning);
    imitation += sample.imitation;
  }
  const auto policy = token_weights(trained, trajectories, config.average, longest),
             entropy = token_weights(with_entropy, trajectories, config.average, longest),
             likelihood = token_weights(trained, trajectories, LossAverage::token, longest);
  std::vector<SampleWeights> weights;
  for (std::size_t i = 0; i < samples.size(); ++i)
    weights.push_back({policy[i], entropy[i], likelihood[i], imitation > 0 ? 1 / imitation : 0});
  return weights;
}

void sample_loss(const LossSample& sample, const SampleWeights& weights, const LossConfig& config, PolicyLossSums& sums,
                 std::span<double> logprob_gradients, std::span<double> entropy_gradients) {
  const PolicyLossConfig& policy = config.policy;
  const auto log_ratios = log_ratios_of(sample);
  const auto at_level = level_log_ratios(sample, log_ratios, policy.ratio_level);
  const auto scales = clip_scales(sample, policy.clip_turn_factor);
  const auto corrections =
      config.correction.is_active()
          ? correction_weights(sample.old_logprobs, sample.rollout_logprobs, sample.advantages, config.correction, sums)
          : std::vector<double>(log_ratios.size(), 1);
  const auto lost = policy.likelihood_coefficient > 0 ? lost_likelihood(sample, log_ratios, policy.likelihood_gate)
                                                      : std::vector<double>(log_ratios.size());

  for (std::size_t t = 0; t < log_ratios.size(); ++t) {
    const double logprob = sample.logprobs[t], advantage = sample.advantages[t];
    const double low = policy.clip_low * scales[t], high = policy.clip_high * scales[t];
    const double ratio = loss_exp(at_level[t]);
    TokenLoss token{};
    switch (policy.objective) {
      case PolicyObjective::clip: token = clipped_objective(at_level[t], advantage, low, high, policy.dual_clip); break;
      case PolicyObjective::cispo: token = cispo_term(ratio, logprob, advantage, low, high); break;
      case PolicyObjective::sapo:
        token = sapo_term(ratio, advantage, advantage > 0 ? policy.tau_positive : policy.tau_negative);
        break;
      case PolicyObjective::dppo:
        token = dppo_term(ratio, loss_exp(logprob), loss_exp(sample.old_logprobs[t]), advantage, low, high);
        break;
    }
    if (token.clipped != 0) (token.clipped < 0 ? sums.clipped_low : sums.clipped_high) += 1;

    const double weight = weights.policy * corrections[t];
    sums.policy += weight * token.value;
    double gradient = weight * token.gradient;

    const double penalty = weights.policy * policy.log_ratio_penalty;
    sums.log_ratio_penalty += penalty * log_ratios[t] * log_ratios[t];
    gradient += 2 * penalty * log_ratios[t];

    if (config.kl.coefficient > 0) {
      const double scale = config.kl.coefficient * weights.policy;
      const KlEstimate kl = kl_estimate(config.kl.estimator, logprob, sample.reference_logprobs[t]);
      sums.kl += scale * kl.value;
      gradient += scale * kl.gradient;
    }
    if (lost[t] > 0) {
      const double scale = policy.likelihood_coefficient * weights.likelihood;
      sums.likelihood += scale * lost[t];
      gradient -= scale;
    }
    if (!sample.imitation.empty()) {
      const double scale = policy.cross_entropy_coefficient * weights.cross_entropy * sample.imitation[t];
      sums.cross_entropy -= scale * logprob;
      gradient -= scale;
    }
    const bool has_bonus = policy.entropy_tokens == EntropyTokens::all || sample.reasoning[t];
    const double bonus = has_bonus ? weights.entropy * policy.entropy_coefficient : 0;
    sums.entropy_bonus -= bonus * sample.entropies[t];

    logprob_gradients[t] = gradient;
    entropy_gradients[t] = -bonus;
    sums.entropy += sample.entropies[t];
    sums.log_ratio -= log_ratios[t];
    sums.signs.add(advantage, 1);
    sums.tokens += 1;
  }
  sums.loss =
      sums.policy + sums.entropy_bonus + sums.kl + sums.log_ratio_penalty + sums.likelihood + sums.cross_entropy;
}

}  // namespace starpo
