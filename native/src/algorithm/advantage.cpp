#include "algorithm/advantage.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "algorithm/estimators.h"
#include "algorithm/statistics.h"
#include "fields/field_visitor.h"

namespace starpo {
namespace {

using Estimator = AdvantageEstimator;

std::vector<std::vector<double>> group_advantages_by_turn(std::span<const EpisodeRewards> episodes,
                                                          Estimator estimator) {
  std::vector<std::vector<double>> advantages(episodes.size());
  for (const auto& group : indices_by_group(episodes)) {
    std::vector<double> scores;
    for (const std::size_t i : group) scores.push_back(episodes[i].score());
    const auto own = group_advantages(scores, estimator);
    for (std::size_t j = 0; j < group.size(); ++j) advantages[group[j]].assign(episodes[group[j]].turns.size(), own[j]);
  }
  return advantages;
}

// Returns the advantages of each turn, [episodes][turns], of an estimator without a critic.
std::vector<std::vector<double>> turn_advantages(std::span<const EpisodeRewards> episodes,
                                                 const AdvantageConfig& config) {
  if (config.estimator == Estimator::gigpo) return gigpo(episodes, config);
  if (config.estimator == Estimator::hgpo) return hgpo(episodes, config);
  return group_advantages_by_turn(episodes, config.estimator);
}

// Values whose weights add up to `units`.
struct WeightedValues {
  std::vector<double> values, weights;
  std::size_t units = 0;

  void add(double value, double weight) {
    values.push_back(value);
    weights.push_back(weight);
  }

  // Returns the mean and the unbiased standard deviation. Equal values have exactly 0.
  std::pair<double, double> moments() const {
    const auto sum_of = [&](const auto& of) {
      double sum = 0;
      for (std::size_t i = 0; i < values.size(); ++i) sum += weights[i] * of(values[i]);
      return sum;
    };
    const double center = sum_of([](double value) { return value; }) / static_cast<double>(units);
    if (std::ranges::all_of(values, [&](double value) { return value == values.front(); })) return {center, 0};
    const double squares = sum_of([&](double value) { return (value - center) * (value - center); });
    return {center, std::sqrt(squares / static_cast<double>(units - 1))};
  }
};

TokenAdvantages with_critic(const EpisodeRewards& episode, const AdvantageConfig& config) {
  switch (config.estimator) {
    case Estimator::gae: return gae(episode, config);
    case Estimator::bi_level_gae: return bi_level_gae(episode, config);
    case Estimator::trajectory_baseline: return trajectory_baseline(episode);
    case Estimator::turn_baseline: return turn_baseline(episode, config);
    default: throw std::logic_error("the estimator does not use a critic");
  }
}

}  // namespace

void describe(FieldVisitor& v, AdvantageConfig& c) {
  v.choice("estimator", c.estimator,
           {"grpo", "dr_grpo", "rloo", "loop", "maxrl", "gigpo", "hgpo", "reinforce_plus_plus", "gae", "bi_level_gae",
            "trajectory_baseline", "turn_baseline"});
  v.number("gamma", c.gamma, 0, 1);
  v.number("lambda", c.lambda, 0, 1);
  v.boolean("whiten", c.whiten);
  v.choice("whiten_over", c.whiten_over, {"tokens", "episodes"});
  v.choice("rewards", c.rewards, {"episode", "turn"});
  v.number("turn_gamma", c.turn_gamma, 0, 1);
  v.boolean("scale_by_std", c.scale_by_std);
  v.number("step_weight", c.step_weight, 0, 100);
  v.integer("history", c.history, 0, 100);
  v.number("history_exponent", c.history_exponent, -10, 10);
  v.boolean("episode_term", c.episode_term);
  v.number("gate", c.gate, 0, 1000000);
}

bool uses_critic(Estimator estimator) { return estimator >= Estimator::gae; }

bool compares_in_group(Estimator estimator) { return estimator <= Estimator::hgpo; }

bool reads_turn_rewards(Estimator estimator) {
  return estimator >= Estimator::gigpo && estimator != Estimator::trajectory_baseline;
}

std::size_t EpisodeRewards::tokens() const {
  std::size_t sum = 0;
  for (const auto& turn : turns) sum += static_cast<std::size_t>(turn.tokens);
  return sum;
}

double EpisodeRewards::score() const {
  double sum = 0;
  for (const auto& turn : turns) sum += turn.reward;
  return sum;
}

std::vector<TokenAdvantages> token_advantages(std::span<const EpisodeRewards> episodes, const AdvantageConfig& config) {
  std::vector<TokenAdvantages> results(episodes.size());
  if (uses_critic(config.estimator)) {
    for (std::size_t i = 0; i < episodes.size(); ++i) results[i] = with_critic(episodes[i], config);
    return results;
  }
  if (config.estimator == Estimator::reinforce_plus_plus) {
    for (std::size_t i = 0; i < episodes.size(); ++i) {
      results[i].advantages.resize(episodes[i].tokens());
      returns_to_go(token_rewards(episodes[i], config.rewards), config.gamma, results[i].advantages);
    }
    return results;
  }
  const auto by_turn = turn_advantages(episodes, config);
  for (std::size_t i = 0; i < episodes.size(); ++i) {
    // KL rewards are not part of the compared scores: each token gets the sum of those from it on.
    auto& advantages = results[i].advantages;
    advantages.resize(episodes[i].tokens());
    if (!episodes[i].kl_rewards.empty()) returns_to_go(episodes[i].kl_rewards, config.gamma, advantages);
    std::size_t t = 0;
    for (std::size_t k = 0; k < by_turn[i].size(); ++k)
      for (int j = 0; j < episodes[i].turns[k].tokens; ++j) advantages[t++] += by_turn[i][k];
  }
  return results;
}

std::vector<bool> passes_gate(std::span<const EpisodeRewards> episodes, std::span<const TokenAdvantages> advantages,
                              double gate) {
  std::vector<bool> passes(episodes.size(), gate == 0);
  if (gate == 0) return passes;
  for (const auto& group : indices_by_group(episodes)) {
    double largest = 0;
    for (const std::size_t i : group)
      for (const double advantage : advantages[i].advantages) largest = std::max(largest, std::abs(advantage));
    for (const std::size_t i : group) passes[i] = largest > gate;
  }
  return passes;
}

std::vector<double> group_advantages(std::span<const double> scores, Estimator estimator) {
  const double center = mean(scores), deviation = reward_std(scores), count = static_cast<double>(scores.size());
  // A mean that is 0 but for rounding would give huge advantages.
  const bool has_positive_mean = center > score_tolerance(scores);
  std::vector<double> advantages;
  for (const double score : scores) {
    // Equal scores give exactly zero advantages, regardless of rounding.
    const double difference = deviation == 0 && scores.size() > 1 ? 0 : score - center;
    switch (estimator) {
      case Estimator::grpo: advantages.push_back(difference / (deviation + kStdEpsilon)); break;
      case Estimator::dr_grpo: advantages.push_back(difference); break;
      case Estimator::rloo: advantages.push_back(scores.size() > 1 ? difference * count / (count - 1) : score); break;
      case Estimator::loop: advantages.push_back(scores.size() > 1 ? difference * count / (count - 1) : 0); break;
      case Estimator::maxrl: advantages.push_back(has_positive_mean ? difference / center : 0); break;
      default: throw std::logic_error("the estimator has no advantage per episode");
    }
  }
  return advantages;
}

void whiten(std::span<std::vector<double>> advantages, std::span<const int> environments, WhitenOver over) {
  std::map<int, WeightedValues> all;
  for (std::size_t i = 0; i < advantages.size(); ++i) {
    const double weight = over == WhitenOver::tokens ? 1 : 1 / static_cast<double>(advantages[i].size());
    for (const double advantage : advantages[i]) all[environments[i]].add(advantage, weight);
    all[environments[i]].units += over == WhitenOver::tokens ? advantages[i].size() : 1;
  }
  for (const auto& [environment, values] : all) {
    if (values.units < 2) continue;
    const auto [center, deviation] = values.moments();
    // The constant keeps equal advantages at 0 and is small compared with relevant variances.
    const double scale = 1 / std::sqrt(deviation * deviation + 1e-8);
    for (std::size_t i = 0; i < advantages.size(); ++i) {
      if (environments[i] != environment) continue;
      for (double& advantage : advantages[i]) advantage = (advantage - center) * scale;
    }
  }
}

}  // namespace starpo
