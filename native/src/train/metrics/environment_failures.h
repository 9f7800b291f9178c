#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "journal/journal.h"
#include "rollout/episode.h"

namespace starpo {

// Returns one sentence per environment that failed, with the number of episodes and the most common reasons.
std::vector<std::string> environment_failure_warnings(std::span<const Episode>, const RunConfig&);

// Adds rollout/environment_failure_rate if an environment is a program, since others don't fail.
void add_environment_failures(std::span<const Episode>, const RunConfig&, Metrics&);

// Removes episodes that don't measure the policy, because their environment failed.
void remove_void(std::vector<Episode>&);

}  // namespace starpo
