#include "train/evaluation/evaluation.h"

#include <nlohmann/json.hpp>

#include "rollout/episode_json.h"
#include "rollout/rollout.h"
#include "train/context/levels.h"

namespace starpo {

std::vector<Episode> play_evaluation(const EvaluationParts& parts, int environment, int draw_index,
                                     std::function<void(int finished)> progress) {
  const auto specs = evaluation_episodes(parts.config, environment);
  RolloutRequest request{specs,
                         parts.playground.rules,
                         parts.playground.prototypes,
                         training_sampling(parts.config.rollout),
                         {parts.config.seed, RandomStream::evaluation_sampling},
                         static_cast<std::uint32_t>(draw_index),
                         std::move(progress),
                         parts.playground.reward_program.get()};
  request.sampling.temperature = static_cast<float>(parts.config.evaluation.temperature);
  return run_rollout(parts.generator, request);
}

void write_evaluation(RolloutWriter& writer, std::span<const Episode* const> episodes, int iteration,
                      const EnvironmentConfig& environment, const Tokenizer& tokenizer) {
  for (const Episode* episode : episodes) {
    const EpisodeRecord record{
        episode_id(iteration, environment.label, episode->number), iteration, environment.label, true, {}, {}};
    writer.add(episode_json(*episode, record, environment, tokenizer), episode_summary(*episode, record, environment));
  }
}

}  // namespace starpo
