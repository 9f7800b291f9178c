#include "train/metrics/environment_failures.h"

#include <algorithm>
#include <map>

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
  if (sorted.size() > kMaxReasons) text += "; " + std::to_string(sorted.size() - kMaxReasons) + " other reasons";
  return text;
}

}  // namespace

std::vector<std::string> environment_failure_warnings(std::span<const Episode> episodes, const RunConfig& config) {
  std::vector<std::string> warnings;
  for (int e = 0; e < static_cast<int>(config.environments.size()); ++e) {
    std::map<std::string, int> reasons;
    int count = 0, failed = 0, voided = 0;
    for (const Episode& episode : episodes) {
      if (episode.spec.environment != e) continue;
      ++count;
      failed += !episode.failures.empty();
      voided += episode.is_void();
      for (const std::string& reason : episode.failures) ++reasons[reason];
    }
    if (failed == 0) continue;
    warnings.push_back("the environment " + config.environments[e].label + " failed in " + std::to_string(failed) +
                       " of " + std::to_string(count) + " episodes; " + std::to_string(failed - voided) +
                       " were played again and " + std::to_string(voided) +
                       " are void, neither trained on nor scored. Reasons: " + most_common(reasons));
  }
  return warnings;
}

void add_environment_failures(std::span<const Episode> episodes, const RunConfig& config, Metrics& metrics) {
  const bool applies = std::ranges::any_of(
      config.environments, [](const EnvironmentConfig& environment) { return environment.type == "process"; });
  if (!applies || episodes.empty()) return;
  const auto failed = std::ranges::count_if(episodes, [](const Episode& episode) { return !episode.failures.empty(); });
  at(metrics, metric::kRolloutEnvironmentFailureRate) =
      static_cast<double>(failed) / static_cast<double>(episodes.size());
}

void remove_void(std::vector<Episode>& episodes) {
  std::erase_if(episodes, [](const Episode& episode) { return episode.is_void(); });
}

}  // namespace starpo
