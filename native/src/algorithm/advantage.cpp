#include "algorithm/advantage.h"

#include <cmath>
#include <map>
#include <stdexcept>

#include "algorithm/statistics.h"

namespace starpo {

void describe(FieldVisitor& v, AdvantageConfig& c) {
  v.choice("estimator", c.estimator, {"grpo", "dr_grpo", "rloo", "gae"});
  v.number("gamma", c.gamma, 0, 1);
  v.number("lambda", c.lambda, 0, 1);
  v.boolean("whiten", c.whiten);
}

std::vector<double> group_advantages(std::span<const double> scores, AdvantageEstimator estimator) {
  const double center = mean(scores), deviation = reward_std(scores), count = static_cast<double>(scores.size());
  std::vector<double> advantages;
  for (const double score : scores) {
    // Equal scores give exactly zero advantages, regardless of rounding.
    const double difference = deviation == 0 && scores.size() > 1 ? 0 : score - center;
    switch (estimator) {
      case AdvantageEstimator::grpo: advantages.push_back(difference / (deviation + 1e-6)); break;
      case AdvantageEstimator::dr_grpo: advantages.push_back(difference); break;
      case AdvantageEstimator::gae: throw std::logic_error("generalized advantage estimation has no group advantages");
      case AdvantageEstimator::rloo:
        advantages.push_back(scores.size() > 1 ? difference * count / (count - 1) : score);
        break;
    }
  }
  return advantages;
}

void generalized_advantages(std::span<const double> rewards, std::span<const float> values, double gamma, double lambda,
                            std::span<double> advantages) {
  double next_value = 0, next_advantage = 0;
  for (std::size_t t = rewards.size(); t-- > 0;) {
    const double error = rewards[t] + gamma * next_value - values[t];  // temporal difference residual, equation 9
    next_advantage = advantages[t] = error + gamma * lambda * next_advantage;
    next_value = values[t];
  }
}

void returns_to_go(std::span<const double> rewards, double gamma, std::span<double> returns) {
  double sum = 0;
  for (std::size_t t = rewards.size(); t-- > 0;) returns[t] = sum = rewards[t] + gamma * sum;
}

void whiten(std::span<std::vector<double>> advantages, std::span<const int> environments) {
  std::map<int, std::vector<double>> all;
  for (std::size_t i = 0; i < advantages.size(); ++i)
    all[environments[i]].insert(all[environments[i]].end(), advantages[i].begin(), advantages[i].end());
  for (const auto& [environment, values] : all) {
    if (values.size() < 2) continue;
    const double center = mean(values), deviation = standard_deviation(values);
    // The constant keeps equal advantages at 0 and is small compared with relevant variances.
    const double scale = 1 / std::sqrt(deviation * deviation + 1e-8);
    for (std::size_t i = 0; i < advantages.size(); ++i) {
      if (environments[i] != environment) continue;
      for (double& advantage : advantages[i]) advantage = (advantage - center) * scale;
    }
  }
}

}  // namespace starpo
