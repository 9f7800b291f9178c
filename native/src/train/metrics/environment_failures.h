#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "journal/journal.h"
#include "rollout/episode.h"

namespace starpo {

// The failures of an environment in a rollout, an evaluation or the diagnostics' probe.
struct EnvironmentFailures {
  std::string label;
  int episodes = 0, failed = 0, voided = 0;
  std::string text = {};  // a sentence with the numbers and the most common reasons

  // More than 5 % void episodes deserve attention: they bias what the policy is trained on.
  bool is_alert() const { return voided * 20 > episodes; }
};

// Returns the environments that failed.
std::vector<EnvironmentFailures> environment_failures(std::span<const Episode>, const RunConfig&);

// Adds rollout/environment_failure_rate and rollout/void_rate if an environment is external or a reward program runs,
// since nothing else fails.
void add_environment_failures(std::span<const Episode>, const RunConfig&, Metrics&);

// Removes episodes that don't measure the policy, because their environment failed, and returns them.
std::vector<Episode> take_void(std::vector<Episode>&);

// Returns both in the order of the rollout.
std::vector<const Episode*> in_order(std::span<const Episode> episodes, std::span<const Episode> voids);

}  // namespace starpo
