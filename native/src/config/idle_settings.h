#pragma once

#include <string>
#include <vector>

#include "config/run_config.h"

namespace starpo {

struct IdleSetting {
  std::string path;    // as in rollout.groups or environments[0].noise
  std::string reason;  // a clause without a full stop
};

// Settings that can't act in this configuration: as long as the others stay as they are, nothing that the run does
// depends on what they are, or what they ask for happens in name alone. Each path comes once, with one reason.
std::vector<IdleSetting> idle_settings(const RunConfig&);

}  // namespace starpo
