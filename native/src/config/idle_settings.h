#pragma once

#include <string>
#include <vector>

#include "config/run_config.h"

namespace starpo {

struct IdleSetting {
  std::string path;    // as in rollout.groups or environments[0].noise
  std::string reason;  // a clause without a full stop
};

// Lists settings that have no effect in this configuration: changing one of them alone would not change the run. Each
// path appears once, with one reason.
std::vector<IdleSetting> idle_settings(const RunConfig&);

}  // namespace starpo
