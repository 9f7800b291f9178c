#pragma once

#include <span>
#include <vector>

#include "config/run_config.h"
#include "journal/journal.h"
#include "rollout/episode.h"

namespace starpo {

// The rollout/* metrics of docs/formats/metrics.md. episodes: group by group.
Metrics rollout_metrics(std::span<const Episode> episodes, bool think);

// The same of each environment's episodes alone, as rollout/<label>/*; empty where one environment has all of them.
Metrics rollout_metrics_by_environment(std::span<const Episode> episodes, const RunConfig&);

// The evaluation/<label>/* metrics of one set.
Metrics evaluation_metrics(std::span<const Episode> episodes, const std::string& label);

}  // namespace starpo
