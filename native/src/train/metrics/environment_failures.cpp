#include "train/metrics/environment_failures.h"

#include <algorithm>
#include <map>

#include "base/counted.h"
#include "env/registry.h"
#include "journal/metric_names.h"

namespace starpo {
namespace {

constexpr std::size_t kMaxReasons = 3;

// Returns the most common reasons with their counts.
std::string most_common(const std::map<std::string, int>& reasons) {
  std::vector<std::pair<std::string, int>> sorted(reasons.begin(), reasons.end());
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (std::size_t i = 0; i < std::min(sorted.size(), kMaxReasons); ++i)
    text += (i > 0 ? "; " : "") + sorted[i].first + " (" + std::to_string(sorted[i].second) + ")";
  if (sorted.size() > kMaxReasons) text += "; " + counted(sorted.size() - kMaxReasons, "other reason");
  return text;
}

}  // namespace

std::vector<EnvironmentFailures> environment_failures(std::span<const Episode> episodes, const RunConfig& config) {
  std::vector<EnvironmentFailures> result;
  for (int e = 0; e < static_cast<int>(config.environments.size()); ++e) {
    std::map<std::string, int> reasons;
    EnvironmentFailures failures{config.environments[e].label};
    for (const Episode& episode : episodes) {
      if (episode.spec.environment != e) continue;
      ++failures.episodes;
      failures.failed += !episode.failures.empty();
      failures.voided += episode.is_void();
      for (const std::string& reason : episode.failures) ++reasons[reason];
    }
    if (failures.failed == 0) continue;
    failures.text = std::to_string(failures.failed) + " of " + counted(failures.episodes, "episode") + " of " +
                    failures.label + " failed: " + std::to_string(failures.failed - failures.voided) +
                    " succeeded in a later attempt, " + std::to_string(failures.voided) +
                    " void (neither trained on nor scored). Reasons: " + most_common(reasons);
    result.push_back(std::move(failures));
  }
  return result;
}

void add_environment_failures(std::span<const Episode> episodes, const RunConfig& config, Metrics& metrics) {
  const bool applies = std::ranges::any_of(config.environments, [](const EnvironmentConfig& environment) {
    const EnvironmentType* type = find_environment_type(environment.type);
    return type && type->is_external;
  });
  if ((!applies && !config.reward.program.runs()) || episodes.empty()) return;
  const auto failed = std::ranges::count_if(episodes, [](const Episode& episode) { return !episode.failures.empty(); });
  const auto voided = std::ranges::count_if(episodes, &Episode::is_void);
  const auto count = static_cast<double>(episodes.size());
  at(metrics, metric::kRolloutEnvironmentFailureRate) = static_cast<double>(failed) / count;
  at(metrics, metric::kRolloutVoidRate) = static_cast<double>(voided) / count;
}

std::vector<Episode> take_void(std::vector<Episode>& episodes) {
  std::vector<Episode> voids;
  for (Episode& episode : episodes)
    if (episode.is_void()) voids.push_back(episode);
  std::erase_if(episodes, [](const Episode& episode) { return episode.is_void(); });
  return voids;
}

std::vector<const Episode*> in_order(std::span<const Episode> episodes, std::span<const Episode> voids) {
  std::vector<const Episode*> result;
  for (const auto part : {episodes, voids})
    for (const Episode& episode : part) result.push_back(&episode);
  std::ranges::sort(result, {}, &Episode::number);
  return result;
}

}  // namespace starpo
