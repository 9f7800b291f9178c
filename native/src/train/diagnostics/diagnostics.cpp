#include "train/diagnostics/diagnostics.h"

#include <algorithm>

#include "algorithm/objectives.h"
#include "journal/metric_names.h"
#include "rollout/rollout.h"
#include "train/context/levels.h"
#include "train/diagnostics/gradient_norms.h"
#include "train/diagnostics/mutual_information.h"
#include "train/metrics/average.h"
#include "train/update/estimate_advantages.h"

namespace starpo {
namespace {

void add_drift(std::span<const float> logprobs, std::span<const float> start_logprobs, Average& drift) {
  for (std::size_t t = 0; t < logprobs.size(); ++t)
    drift.add(kl_estimate(KlEstimator::k3, logprobs[t], start_logprobs[t]).value);
}

// Returns the k3 estimate of the policy's KL divergence from its start weights, per token, on some episodes.
Average drift(NetworkPass& start, int micro_batch_tokens, std::span<const Sequence> kept, int samples,
              float temperature, const std::function<void()>& progress) {
  auto sample = sequences_of_some_episodes(kept, static_cast<std::size_t>(samples));
  compute_logprobs(start, &Sequence::reference_logprobs, micro_batch_tokens, temperature, sample, progress);
  Average average;
  for (const Sequence& sequence : sample) add_drift(sequence.rollout_logprobs, sequence.reference_logprobs, average);
  return average;
}

}  // namespace

bool diagnostics_due(const RunConfig& config, int iteration) {
  return config.diagnostics.every > 0 && iteration % config.diagnostics.every == 0;
}

int diagnostic_samples(const RunConfig& config) {
  return std::min(config.diagnostics.samples,
                  std::max(kMaxPrompts, config.rollout.groups * config.rollout.group_size / 8));
}

std::vector<Episode> play_probe(const RunConfig& config, const Playground& playground, Generator& generator,
                                int iteration, std::function<void(int finished)> progress) {
  std::vector<EnvironmentConfig> environments = config.environments;
  std::vector<EpisodeRules> rules;
  for (std::size_t e = 0; e < environments.size(); ++e) {
    const EpisodeRules& own = playground.rules[e];
    environments[e].max_turns = 1;
    rules.push_back({environments[e], own.rollout, own.reward, own.tokenizer, own.chat});
  }
  const auto specs = probe_episodes(config, kMaxPrompts, std::max(1, diagnostic_samples(config) / kMaxPrompts));
  RolloutRequest request{specs,
                         rules,
                         playground.prototypes,
                         training_sampling(config.rollout),
                         {config.seed, RandomStream::probe_sampling},
                         static_cast<std::uint32_t>(iteration),
                         std::move(progress)};
  return run_rollout(generator, request);
}

void add_diagnostics(const RunConfig& config, Replica& replica, std::span<const Episode> reasoning_episodes,
                     std::span<const Sequence> kept, Metrics& metrics, const std::function<void()>& progress) {
  const auto temperature = static_cast<float>(config.rollout.temperature);
  const int samples = diagnostic_samples(config), tokens = replica.micro_batch_tokens;
  NetworkPass& pass = *replica.policy_pass;
  if (config.rollout.think)
    add_mutual_information(reasoning_likelihoods(pass, reasoning_episodes, samples, temperature, tokens, progress),
                           metrics);

  Average from_start;
  if (replica.start_pass) {
    from_start = drift(*replica.start_pass, tokens, kept, samples, temperature, progress);
  } else if (!replica.needs.reads_start) {
    for (const Sequence& sequence : kept) add_drift(sequence.rollout_logprobs, sequence.reference_logprobs, from_start);
  }
  set_average(metrics, metric::kDiagnosticsKlFromStart, from_start);

  add_gradient_norms_by_reward_std(*replica.policy, pass, kept,
                                   {config.policy_loss, temperature, std::max(1, samples / 4), tokens}, metrics,
                                   progress);
}

}  // namespace starpo
