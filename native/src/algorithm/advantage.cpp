#include "algorithm/advantage.h"

#include <cmath>
#include <stdexcept>

#include "algorithm/statistics.h"

namespace starpo {

void describe(FieldVisitor& v, AdvantageConfig& c) {
  v.choice("estimator", c.estimator, {"grpo", "dr_grpo", "rloo", "gae"});
  v.number("gamma", c.gamma, 0, 1);
  v.number("lambda", c.lambda, 0, 1);
  v.boolean("whiten", c.whiten);
}

std::vector<double> group_advantages(std::span<const double> scores, int group_size, AdvantageEstimator estimator) {
  std::vector<double> advantages(scores.size());
  for (std::size_t start = 0; start < scores.size(); start += group_size) {
    const auto group = scores.subspan(start, group_size);
    const double centre = mean(group), spread = standard_deviation(group);
    for (int member = 0; member < group_size; ++member) {
      // A group of equal scores has no advantage, whatever the rounding of its mean.
      const double difference = spread == 0 && group_size > 1 ? 0 : group[member] - centre;
      switch (estimator) {
        case AdvantageEstimator::grpo: advantages[start + member] = difference / (spread + 1e-6); break;
        case AdvantageEstimator::dr_grpo: advantages[start + member] = difference; break;
        case AdvantageEstimator::gae: throw std::logic_error("generalised advantage estimation compares no group");
        case AdvantageEstimator::rloo: advantages[start + member] = group_size > 1 ? difference * group_size / (group_size - 1) : group[member]; break;
      }
    }
  }
  return advantages;
}

void whiten(std::span<std::vector<double>> advantages) {
  std::vector<double> all;
  for (const auto& part : advantages) all.insert(all.end(), part.begin(), part.end());
  if (all.size() < 2) return;
  const double centre = mean(all), spread = standard_deviation(all);
  // The constant is small beside any variance that matters and keeps equal advantages at 0.
  const double scale = 1 / std::sqrt(spread * spread + 1e-8);
  for (auto& part : advantages)
    for (double& advantage : part) advantage = (advantage - centre) * scale;
}

}  // namespace starpo
