#include "train/run/levels.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace starpo {

std::vector<int> groups_by_environment(const RunConfig& config) {
  double total = 0;
  for (const auto& environment : config.environments) total += environment.share;

  std::vector<int> groups;
  std::vector<double> remainders;
  for (const auto& environment : config.environments) {
    const double exact = config.rollout.groups * environment.share / total;
    groups.push_back(static_cast<int>(std::floor(exact)));
    remainders.push_back(exact - std::floor(exact));
  }
  std::vector<std::size_t> order(groups.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  int missing = config.rollout.groups - std::accumulate(groups.begin(), groups.end(), 0);
  for (std::size_t i = 0; i < order.size() && missing > 0; ++i, --missing) ++groups[order[i]];
  return groups;
}

std::vector<EpisodeSpec> training_episodes(const RunConfig& config, int iteration) {
  const auto groups = groups_by_environment(config);
  std::vector<EpisodeSpec> episodes;
  int group = 0;
  for (std::size_t e = 0; e < groups.size(); ++e) {
    for (int i = 0; i < groups[e]; ++i, ++group) {
      std::uint64_t offset = static_cast<std::uint64_t>(iteration - 1) * config.rollout.groups + group;
      if (config.levels.pool > 0) offset %= config.levels.pool;
      for (int member = 0; member < config.rollout.group_size; ++member) {
        const std::uint64_t noise = config.environments[e].noise == Noise::shared ? 0 : member + 1;
        episodes.push_back({static_cast<int>(e), group, member, config.levels.train_seed + offset, noise});
      }
    }
  }
  return episodes;
}

std::vector<EpisodeSpec> evaluation_episodes(const RunConfig& config, int environment) {
  std::vector<EpisodeSpec> episodes;
  for (int i = 0; i < config.evaluation.levels; ++i)
    episodes.push_back({environment, i, 0, static_cast<std::uint64_t>(config.levels.validation_seed) + i, 0});
  return episodes;
}

}  // namespace starpo
