#include "train/diagnostics/probe.h"

#include <algorithm>

#include "rollout/rollout.h"
#include "train/diagnostics/diagnostics.h"
#include "train/diagnostics/mutual_information.h"
#include "train/run/levels.h"

namespace starpo {

std::vector<Episode> play_probe(const RunConfig& config, const Playground& playground, Generator& generator, int iteration, std::function<void(int finished)> progress) {
  std::vector<EnvironmentConfig> environments = config.environments;
  std::vector<EpisodeRules> rules;
  for (std::size_t e = 0; e < environments.size(); ++e) {
    const EpisodeRules& own = playground.rules[e];
    environments[e].max_turns = 1;
    rules.push_back({environments[e], own.rollout, own.reward, own.tokenizer, own.chat});
  }
  const auto specs = probe_episodes(config, most_prompts, std::max(1, diagnosed_samples(config) / most_prompts));
  RolloutRequest request{specs, rules, playground.prototypes, training_sampling(config.rollout), {config.seed, RandomStream::probe_sampling}, static_cast<std::uint32_t>(iteration), std::move(progress)};
  return run_rollout(generator, request);
}

}  // namespace starpo
