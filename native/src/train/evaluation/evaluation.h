#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "engine/generator.h"
#include "rollout/rollout_writer.h"
#include "tokenizer/tokenizer.h"
#include "train/context/playground.h"

namespace starpo {

// What an evaluation plays with.
struct EvaluationParts {
  const RunConfig& config;
  const Playground& playground;
  Generator& generator;
};

// Plays one episode on each of an environment's fixed levels. Draws are keyed by the run's seed and `draws`, the
// environment's place in run.json, not by the iteration: every evaluation of a run plays the same levels with the same
// luck, slips and payouts too, so two can be compared in pairs. `progress` as in RolloutRequest. Errors: those of
// run_rollout.
std::vector<Episode> play_evaluation(const EvaluationParts&, int environment, int draws,
                                     std::function<void(int finished)> progress);

// Gives a set's episodes to a writer; `split` is the set's label.
void write_evaluation(RolloutWriter&, std::span<const Episode>, int iteration, const EnvironmentConfig&,
                      const Tokenizer&);

}  // namespace starpo
