#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/philox.h"
#include "model/decoder.h"
#include "rollout/episode_player.h"
#include "rollout/sampler.h"

namespace starpo {

struct RolloutRequest {
  std::span<const EpisodeSpec> episodes;         // group by group
  std::span<const EpisodeRules> rules;           // by environment
  std::span<const std::unique_ptr<Environment>> prototypes;  // by environment; cloned for each episode
  SamplingSettings sampling;
  Philox random;                                 // key of all draws
  std::uint32_t iteration;                       // first counter word; evaluations give their environment's index, so that every one draws alike

  // Called after every decoding step with the number of finished episodes. May hold (pause) or throw to give the rollout up.
  std::function<void(int finished)> progress;
};

// Plays all episodes with one decoder. There is no barrier: a slot whose turn has ended steps its environment and rejoins, and a free slot takes the next
// episode. A group's prompt is computed once, in the decoder's last slot. Which slot plays what changes no result.
// Needs at least two decoder slots. Errors: non_finite_logprob, context_too_small, config_invalid.
std::vector<Episode> run_rollout(const Model&, Decoder&, const RolloutRequest&);

}  // namespace starpo
