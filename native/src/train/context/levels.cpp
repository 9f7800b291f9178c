#include "train/context/levels.h"

#include <algorithm>

#include "env/level_difficulty.h"

namespace starpo {
namespace {

// Owner of a noise stream, in the lowest bit of the third word of its place. The other bits are the upper half of the
// group or episode number, which is non-zero only for demonstrations.
enum StreamOwner : std::uint32_t { group = 0, episode = 1 };

NoiseStream training_stream(const RunConfig& config, std::uint32_t iteration, StreamOwner owner, std::uint64_t number) {
  return {{config.seed, RandomStream::environment_noise},
          {iteration, static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32) << 1 | owner}};
}

std::optional<NoiseStream> training_noise(const RunConfig& config, Noise noise, std::uint32_t iteration,
                                          std::uint64_t group, std::uint64_t episode) {
  switch (noise) {
    case Noise::shared: return training_stream(config, iteration, StreamOwner::group, group);
    case Noise::independent: return training_stream(config, iteration, StreamOwner::episode, episode);
    case Noise::reference: break;
  }
  return std::nullopt;
}

}  // namespace

std::vector<EpisodeSpec> training_episodes(const RunConfig& config, int iteration, int round) {
  const auto groups = groups_by_environment(config.environments, config.rollout.groups);
  std::vector<EpisodeSpec> episodes;
  const std::uint64_t rounds = static_cast<std::uint64_t>(config.rollout.extra_rounds) + 1;
  const std::size_t first_episode = static_cast<std::size_t>(round) * config.rollout.groups * config.rollout.group_size;
  int group = round * config.rollout.groups;
  for (std::size_t e = 0; e < groups.size(); ++e) {
    for (int i = 0; i < groups[e]; ++i, ++group) {
      std::uint64_t offset = static_cast<std::uint64_t>(iteration - 1) * rounds * config.rollout.groups + group;
      if (config.levels.pool > 0) offset %= config.levels.pool;
      for (int i_in_group = 0; i_in_group < config.rollout.group_size; ++i_in_group) {
        const auto noise = training_noise(config, config.environments[e].noise, static_cast<std::uint32_t>(iteration),
                                          group, first_episode + episodes.size());
        episodes.push_back({static_cast<int>(e), group, i_in_group, config.levels.train_seed + offset, noise});
      }
    }
  }
  return episodes;
}

EpisodeSpec evaluation_episode(const RunConfig& config, int environment, int index) {
  const std::uint64_t seed = static_cast<std::uint64_t>(config.levels.validation_seed) + index;
  EpisodeSpec episode{environment, index, 0, seed, std::nullopt, Split::validation};
  if (config.environments[environment].noise != Noise::reference)
    episode.noise = level_noise(config.levels.validation_seed, seed);
  return episode;
}

std::vector<EpisodeSpec> evaluation_episodes(const RunConfig& config, int environment) {
  std::vector<EpisodeSpec> episodes;
  for (int i = 0; i < config.evaluation.levels; ++i) episodes.push_back(evaluation_episode(config, environment, i));
  return episodes;
}

std::vector<EpisodeSpec> probe_episodes(const RunConfig& config, int levels, int group_size) {
  const auto groups = groups_by_environment(config.environments, levels);
  std::vector<EpisodeSpec> episodes;
  int group = 0;
  for (std::size_t e = 0; e < groups.size(); ++e) {
    for (int i = 0; i < groups[e]; ++i, ++group) {
      EpisodeSpec episode = evaluation_episode(config, static_cast<int>(e), i);
      episode.group = group;
      for (episode.index_in_group = 0; episode.index_in_group < group_size; ++episode.index_in_group)
        episodes.push_back(episode);
    }
  }
  return episodes;
}

EpisodeSpec demonstration_episode(const RunConfig& config, int environment, std::uint64_t index) {
  constexpr std::uint64_t first_level = 1ull << 40;
  constexpr std::uint32_t before_training = 0;  // iterations count from 1
  const auto noise = training_noise(config, config.environments[environment].noise, before_training, index, index);
  return {environment, 0, 0, first_level + index, noise};
}

void rate_level_difficulty(const RunConfig& config, std::span<const std::unique_ptr<Environment>> prototypes,
                           std::span<Episode> episodes) {
  int rated_group = -1;
  for (Episode& episode : episodes) {
    const EpisodeSpec& spec = episode.spec;
    if (spec.group == rated_group) continue;
    rated_group = spec.group;
    if (prototypes[spec.environment]->is_stochastic()) continue;
    const EnvironmentConfig& rules = config.environments[spec.environment];
    const auto level = prototypes[spec.environment]->clone();
    level->reset(spec.seed, spec.noise ? &*spec.noise : nullptr);
    episode.log_random_success =
        log_random_success(*level, std::min(rules.max_actions, rules.max_turns * rules.max_actions_per_turn));
  }
}

}  // namespace starpo
