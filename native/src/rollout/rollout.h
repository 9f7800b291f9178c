#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/philox.h"
#include "engine/generator.h"
#include "rollout/episode_player.h"
#include "rollout/reward_program.h"

namespace starpo {

// Returns the sampling settings of training. Evaluations have their own temperature.
SamplingSettings training_sampling(const RolloutConfig&);

struct RolloutRequest {
  std::span<const EpisodeSpec> episodes;                     // ordered by group
  std::span<const EpisodeRules> rules;                       // per environment
  std::span<const std::unique_ptr<Environment>> prototypes;  // per environment; cloned for each episode
  SamplingSettings sampling;
  Philox random;  // key of all random draws
  // First counter word of the draws. Evaluations pass the environment's index, so that all use the same draws.
  std::uint32_t iteration;

  // Called after every decoding step with the number of finished episodes. May block (pause), or throw to abort the
  // rollout.
  std::function<void(int finished)> progress;

  RewardProgram* reward_program = nullptr;  // scores each finished episode while the others are played

  // Number of the first episode. Rollouts of an iteration with different numbers draw different tokens.
  int first_number = 0;
};

// Plays all episodes with one generator and without barriers: when a slot finishes a turn, it steps its environment and
// continues; a free slot starts the next episode. A slot whose environment has not answered waits while the others
// decode. An episode whose environment fails is played once more, with other draws on the same level, and is void if
// that fails, too. It is played a third time if another episode of the same process may have caused the second failure.
// An episode that the reward program fails to score twice is void, too. Results do not depend on the assignment of
// slots. Errors: those of EpisodePlayer except EnvironmentFailure, those of EpisodeScoring, non_finite_logprob,
// environment_failed (a program never started, or more than half of the episodes are void).
std::vector<Episode> run_rollout(Generator&, const RolloutRequest&);

}  // namespace starpo
