#pragma once

#include <span>
#include <string>

#include "rollout/episode.h"
#include "rollout/settings.h"
#include "tokenizer/tokenizer.h"

namespace starpo {

// What a rollout file adds to an episode.
struct EpisodeRecord {
  std::string id;
  int iteration;
  std::string split;
  bool kept;
  std::span<const double> advantages;  // of its sampled tokens, all turns' together; empty where it wasn't trained
  std::span<const float> values;       // the critic's, likewise
};

// The episode's line and its summary, as docs/formats/rollouts.md describes them.
std::string episode_summary_json(const Episode&, const EpisodeRecord&, const EnvironmentConfig&);
std::string episode_json(const Episode&, const EpisodeRecord&, const EnvironmentConfig&, const Tokenizer&);

}  // namespace starpo
