#include "train/update/estimate_advantages.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "algorithm/advantage.h"
#include "algorithm/objectives.h"
#include "algorithm/reward_normalization.h"
#include "algorithm/statistics.h"
#include "journal/metric_names.h"
#include "rollout/reward_terms.h"

namespace starpo {
namespace {

// Calls forward(batch, results) for packed micro-batches and stores the results of each sequence in its `member`.
template <class Forward>
void forward_all(std::vector<Sequence>& sequences, int micro_batch_tokens, std::vector<float> Sequence::* member,
                 const std::function<void()>& progress, const Forward& forward) {
  for (const MicroBatch& micro : split_into_micro_batches(sequences, micro_batch_tokens)) {
    const auto own = std::span(sequences).subspan(micro.first, micro.count);
    const PackedBatch batch = pack(own);
    std::vector<float> results(batch.targets.size());
    forward(batch, std::span(results));
    auto next = results.begin();
    for (Sequence& sequence : own) {
      const auto end = next + static_cast<std::ptrdiff_t>(sequence.targets.size());
      (sequence.*member).assign(next, end);
      next = end;
    }
    progress();
  }
}

void compute_values(Replica& replica, float temperature, std::vector<Sequence>& sequences,
                    const std::function<void()>& progress) {
  forward_all(sequences, replica.micro_batch_tokens, &Sequence::values, progress,
              [&](const PackedBatch& batch, std::span<float> values) {
                if (replica.critic->reads_policy()) {
                  std::vector<float> logprobs(values.size()), entropies(values.size());
                  replica.policy_pass->forward(batch, temperature, logprobs, entropies);
                }
                replica.critic->forward(batch, *replica.policy_pass, values);
              });
}

// Returns the in-reward KL penalty of each token of an episode. Adds its KL estimates to `estimates`.
std::vector<double> kl_rewards(const KlConfig& config, std::span<const Sequence> samples,
                               std::vector<double>& estimates) {
  std::vector<double> rewards;
  for (const Sequence& sample : samples) {
    const std::size_t first = rewards.size();
    rewards.resize(first + sample.targets.size());
    for (std::size_t t = 0; t < sample.reference_logprobs.size(); ++t) {
      estimates.push_back(
          kl_estimate(config.estimator, sample.rollout_logprobs[t], sample.reference_logprobs[t]).value);
      if (config.placement == KlPlacement::reward) rewards[first + t] = -config.coefficient * estimates.back();
    }
  }
  return rewards;
}

// advantages: [trained tokens], before whitening.
void add_advantage_metrics(std::span<const double> advantages, Metrics& metrics) {
  at(metrics, metric::kAdvantageMean) = mean(advantages);
  at(metrics, metric::kAdvantageStd) = standard_deviation(advantages);
  const auto active = advantages.size() - static_cast<std::size_t>(std::ranges::count(advantages, 0.0));
  at(metrics, metric::kAdvantageActiveShare) = static_cast<double>(active) / static_cast<double>(advantages.size());
}

// Adds the mean log-probability of tokens by the sign of their advantage: if both sink, good answers become unlikely.
void add_logprobs_by_sign(const std::vector<Sequence>& sequences, Metrics& metrics) {
  double sums[2] = {}, counts[2] = {};
  for (const Sequence& sequence : sequences) {
    if (sequence.staleness > 0) continue;  // its log-probabilities are of an older policy
    for (std::size_t t = 0; t < sequence.advantages.size(); ++t) {
      if (sequence.advantages[t] == 0) continue;
      const bool positive = sequence.advantages[t] > 0;
      sums[positive] += sequence.rollout_logprobs[t];
      counts[positive] += 1;
    }
  }
  if (counts[true] > 0) at(metrics, metric::kAdvantageLogprobPositive) = sums[true] / counts[true];
  if (counts[false] > 0) at(metrics, metric::kAdvantageLogprobNegative) = sums[false] / counts[false];
}

// Adds the share of absolute advantages from groups with zero reward std. advantages: [episodes][tokens],
// has_reward_std: [episodes].
void add_zero_std_share(const std::vector<std::vector<double>>& advantages, const std::vector<bool>& has_reward_std,
                        Metrics& metrics) {
  double from_zero_std = 0, all = 0;
  for (std::size_t i = 0; i < advantages.size(); ++i) {
    for (const double advantage : advantages[i]) {
      all += std::abs(advantage);
      if (!has_reward_std[i]) from_zero_std += std::abs(advantage);
    }
  }
  if (all > 0) at(metrics, metric::kAdvantageZeroStdShare) = from_zero_std / all;
}

// Adds the critic's metrics over the tokens whose value is trained.
void add_value_metrics(const std::vector<Sequence>& sequences, Metrics& metrics) {
  std::vector<double> values, targets;
  for (const Sequence& sequence : sequences) {
    for (std::size_t t = 0; t < sequence.values.size(); ++t) {
      if (!sequence.value_mask[t]) continue;
      values.push_back(sequence.values[t]);
      targets.push_back(sequence.value_targets[t]);
    }
  }
  at(metrics, metric::kCriticValueMean) = mean(values);
  if (const auto explained = explained_variance(values, targets))
    at(metrics, metric::kCriticExplainedVariance) = *explained;
}

// samples: those of an episode.
EpisodeRewards rewards_of(std::span<const Sequence> samples, std::vector<double> kl_rewards,
                          const RewardConfig& config) {
  const Episode& episode = *samples.front().episode;
  EpisodeRewards rewards{episode.spec.group, episode.spec.environment, {}, std::move(kl_rewards), {}, {}};
  for (const Turn& turn : episode.turns) {
    rewards.turns.push_back({static_cast<int>(turn.ids.size()), turn.score, turn.anchor.value_or(turn.state)});
    for (const RewardTerm& term : turn.terms)
      rewards.terms.push_back({term.name, term.value, weight_of_term(term.name, config)});
  }
  for (const Sequence& sample : samples)
    rewards.values.insert(rewards.values.end(), sample.values.begin(), sample.values.end());
  return rewards;
}

// Distributes values of an episode's trained tokens over its samples.
template <class Value>
void distribute(const std::vector<Value>& values, std::span<Sequence> samples, std::vector<Value> Sequence::* member) {
  if (values.empty()) return;
  auto next = values.begin();
  for (Sequence& sample : samples) {
    const auto end = next + static_cast<std::ptrdiff_t>(sample.targets.size());
    (sample.*member).assign(next, end);
    next = end;
  }
}

// Marks the tokens of successful episodes of this iteration for the cross-entropy (VAPO, arXiv 2504.05118).
void imitate_successes(std::vector<Sequence>& sequences) {
  for (Sequence& sequence : sequences)
    if (sequence.episode->success && sequence.staleness == 0) sequence.imitation.assign(sequence.targets.size(), 1);
}

// Removes the episodes that do not pass the gate.
void keep_gated(std::span<const EpisodeRewards> rewards, double gate, std::vector<TokenAdvantages>& advantages,
                std::vector<Sequence>& sequences, std::vector<bool>& has_reward_std, Metrics& metrics) {
  if (gate == 0) return;
  const auto passes = passes_gate(rewards, advantages, gate);
  const auto episodes = sequences_by_episode(std::span(sequences));
  std::vector<Sequence> kept_sequences;
  std::set<int> dropped;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    if (!passes[i]) {
      dropped.insert(rewards[i].group);
      continue;
    }
    std::ranges::move(episodes[i], std::back_inserter(kept_sequences));
    if (kept != i) {
      advantages[kept] = std::move(advantages[i]);
      has_reward_std[kept] = has_reward_std[i];
    }
    ++kept;
  }
  advantages.resize(kept);
  has_reward_std.resize(kept);
  sequences = std::move(kept_sequences);
  at(metrics, metric::kFilterGatedGroups) = static_cast<double>(dropped.size());
}

}  // namespace

void compute_logprobs(NetworkPass& pass, std::vector<float> Sequence::* member, int micro_batch_tokens,
                      float temperature, std::vector<Sequence>& sequences, const std::function<void()>& progress) {
  forward_all(sequences, micro_batch_tokens, member, progress,
              [&](const PackedBatch& batch, std::span<float> logprobs) {
                std::vector<float> entropies(logprobs.size());
                pass.forward(batch, temperature, logprobs, entropies);
              });
}

std::vector<Sequence> estimate_advantages(const RunConfig& run_config, Replica& replica,
                                          std::span<const Episode> episodes, const std::vector<bool>& kept_groups,
                                          Metrics& metrics, const std::function<void()>& progress,
                                          const ReplayedGroups& replayed) {
  const AdvantageConfig& config = run_config.advantage;
  std::vector<Sequence> sequences;
  std::vector<bool> has_reward_std;  // [episodes]
  const auto add = [&](std::span<const Episode> group, int staleness) {
    for (const Episode& episode : group)
      for (Sequence& sequence : make_sequences(episode)) {
        sequence.staleness = staleness;
        sequences.push_back(std::move(sequence));
      }
    has_reward_std.insert(has_reward_std.end(), group.size(), reward_std(scores_of(group)) > 0);
  };
  const auto groups = groups_of(episodes);
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (kept_groups[g]) add(groups[g], 0);
  for (const ReplayGroup* group : replayed.groups) add(group->episodes, replayed.iteration - group->iteration);
  if (sequences.empty()) return sequences;

  const auto temperature = static_cast<float>(run_config.rollout.temperature);
  if (replica.reference)
    compute_logprobs(*replica.reference_pass, &Sequence::reference_logprobs, replica.micro_batch_tokens, temperature,
                     sequences, progress);
  if (run_config.correction.is_active())
    compute_logprobs(*replica.policy_pass, &Sequence::old_logprobs, replica.micro_batch_tokens, temperature, sequences,
                     progress);
  if (replica.critic) compute_values(replica, temperature, sequences, progress);

  std::vector<EpisodeRewards> rewards;
  std::vector<double> kl_estimates;
  for (const auto samples : sequences_by_episode(std::span<const Sequence>(sequences)))
    rewards.push_back(rewards_of(samples, kl_rewards(run_config.kl, samples, kl_estimates), run_config.reward));
  if (!kl_estimates.empty()) at(metrics, metric::kActorKlToReference) = mean(kl_estimates);
  normalize_rewards(rewards, run_config.reward.normalization_config());

  auto estimated = token_advantages(rewards, config);
  keep_gated(rewards, config.gate, estimated, sequences, has_reward_std, metrics);
  if (sequences.empty()) return sequences;
  const auto samples = sequences_by_episode(std::span(sequences));
  std::vector<std::vector<double>> advantages;
  std::vector<int> environments;
  std::vector<double> all;
  for (TokenAdvantages& own : estimated) {
    const auto own_samples = samples[advantages.size()];
    distribute(own.value_targets, own_samples, &Sequence::value_targets);
    distribute(own.value_mask, own_samples, &Sequence::value_mask);
    environments.push_back(own_samples.front().episode->spec.environment);
    all.insert(all.end(), own.advantages.begin(), own.advantages.end());
    advantages.push_back(std::move(own.advantages));
  }
  add_advantage_metrics(all, metrics);
  if (replica.critic) add_value_metrics(sequences, metrics);

  if (config.whiten) whiten(advantages, environments, config.whiten_over);
  if (run_config.rollout.group_size > 1) add_zero_std_share(advantages, has_reward_std, metrics);
  for (std::size_t i = 0; i < samples.size(); ++i) distribute(advantages[i], samples[i], &Sequence::advantages);
  add_logprobs_by_sign(sequences, metrics);
  if (run_config.policy_loss.cross_entropy_coefficient > 0) imitate_successes(sequences);
  return sequences;
}

}  // namespace starpo
