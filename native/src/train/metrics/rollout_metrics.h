#pragma once

#include <span>
#include <vector>

#include "config/run_config.h"
#include "journal/journal.h"
#include "rollout/episode.h"

namespace starpo {

// Computes the rollout/* metrics (docs/formats/metrics.md). episodes: ordered by group.
Metrics rollout_metrics(std::span<const Episode> episodes, bool think);

// Computes the metrics per environment, as rollout/<label>/*. Empty if all episodes are from one environment.
Metrics rollout_metrics_by_environment(std::span<const Episode> episodes, const RunConfig&);

// Computes the evaluation/<label>/* metrics of an evaluation set.
Metrics evaluation_metrics(std::span<const Episode> episodes, const std::string& label);

}  // namespace starpo
