#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/philox.h"
#include "engine/generator.h"
#include "rollout/episode_player.h"

namespace starpo {

// How training draws; evaluations have a temperature of their own.
SamplingSettings training_sampling(const RolloutConfig&);

struct RolloutRequest {
  std::span<const EpisodeSpec> episodes;                     // group by group
  std::span<const EpisodeRules> rules;                       // by environment
  std::span<const std::unique_ptr<Environment>> prototypes;  // by environment; cloned for each episode
  SamplingSettings sampling;
  Philox random;  // key of all draws
  std::uint32_t
      iteration;  // first counter word; evaluations give their environment's index, so that every one draws alike

  // Called after every call of the generator with the number of finished episodes. May hold (pause) or throw to give
  // the rollout up.
  std::function<void(int finished)> progress;
};

// Plays all episodes with one generator. There is no barrier: a slot whose turn has ended steps its environment and
// rejoins, and a free slot takes the next episode. Which slot plays what changes no result. Errors: non_finite_logprob,
// context_too_small, config_invalid.
std::vector<Episode> run_rollout(Generator&, const RolloutRequest&);

}  // namespace starpo
