#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "rollout/episode.h"
#include "rollout/settings.h"
#include "tokenizer/tokenizer.h"

namespace starpo {

// Data that a rollout file adds to an episode.
struct EpisodeRecord {
  std::string id;
  int iteration;
  std::string split;
  bool kept;
  std::span<const double> advantages;  // per sampled token, over all turns; empty if not trained
  std::span<const float> values;       // critic values, as above
};

// Serialize an episode, its summary and a turn without its tokens (docs/formats/rollouts.md).
nlohmann::json turn_json(const Turn&);
nlohmann::json episode_summary(const Episode&, const EpisodeRecord&, const EnvironmentConfig&);
std::string episode_json(const Episode&, const EpisodeRecord&, const EnvironmentConfig&, const Tokenizer&);

}  // namespace starpo
