#pragma once

#include <functional>
#include <span>

#include "config/run_config.h"
#include "engine/network.h"
#include "engine/network_pass.h"
#include "journal/journal.h"
#include "train/update/sequence.h"

namespace starpo {

// Whether this iteration is one of every diagnostics.every.
bool is_diagnosed(const RunConfig&, int iteration);

// Whether a run keeps a copy of the weights that it begins with, to measure its drift by: not where a KL term's reference is just that.
bool keeps_start(const RunConfig&);

// What can't be counted from episodes but must be computed, on samples of diagnostics.samples' size, before an update changes the policy: diagnostics/*. Nothing random is drawn and nothing of the
// training changes. pass: of the policy. start: of the weights that the run began with; null where `kept` holds their log-probabilities, as of the reference. episodes: of the whole
// rollout, group by group; kept: those that are trained on, with their advantages. progress is called after every pass.
void add_diagnostics(const RunConfig&, Network& policy, NetworkPass& pass, NetworkPass* start, std::span<const Episode> episodes, std::span<const Sequence> kept, Metrics&,
                     const std::function<void()>& progress);

}  // namespace starpo
