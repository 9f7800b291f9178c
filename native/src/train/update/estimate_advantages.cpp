#include "train/update/estimate_advantages.h"

#include <algorithm>
#include <cmath>

#include "algorithm/advantage.h"
#include "algorithm/objectives.h"
#include "algorithm/statistics.h"
#include "journal/metric_names.h"

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

// Returns the in-reward KL penalty of each token. Adds the mean estimate to the metrics.
std::vector<std::vector<double>> kl_rewards(const KlConfig& config, const std::vector<Sequence>& sequences,
                                            Metrics& metrics) {
  std::vector<std::vector<double>> rewards;
  std::vector<double> estimates;
  for (const Sequence& sequence : sequences) {
    std::vector<double>& own = rewards.emplace_back(sequence.targets.size(), 0.0);
    for (std::size_t t = 0; t < sequence.reference_logprobs.size(); ++t) {
      estimates.push_back(
          kl_estimate(config.estimator, sequence.rollout_logprobs[t], sequence.reference_logprobs[t]).value);
      if (config.placement == KlPlacement::reward) own[t] = -config.coefficient * estimates.back();
    }
  }
  if (!estimates.empty()) at(metrics, metric::kActorKlToReference) = mean(estimates);
  return rewards;
}

// advantages: [trained tokens], before whitening.
void add_advantage_metrics(std::span<const double> advantages, Metrics& metrics) {
  at(metrics, metric::kAdvantageMean) = mean(advantages);
  at(metrics, metric::kAdvantageStd) = standard_deviation(advantages);
  const auto active = advantages.size() - static_cast<std::size_t>(std::ranges::count(advantages, 0.0));
  at(metrics, metric::kAdvantageActiveShare) = static_cast<double>(active) / static_cast<double>(advantages.size());
}

// Adds the share of absolute advantages from groups with zero reward std. advantages: [sequences][tokens],
// has_reward_std: [sequences].
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

void add_value_metrics(const std::vector<Sequence>& sequences, Metrics& metrics) {
  std::vector<double> values, returns;
  for (const Sequence& sequence : sequences) {
    values.insert(values.end(), sequence.values.begin(), sequence.values.end());
    returns.insert(returns.end(), sequence.returns.begin(), sequence.returns.end());
  }
  at(metrics, metric::kCriticValueMean) = mean(values);
  if (const auto explained = explained_variance(values, returns))
    at(metrics, metric::kCriticExplainedVariance) = *explained;
}

}  // namespace

void compute_reference_logprobs(NetworkPass& reference, int micro_batch_tokens, float temperature,
                                std::vector<Sequence>& sequences, const std::function<void()>& progress) {
  forward_all(sequences, micro_batch_tokens, &Sequence::reference_logprobs, progress,
              [&](const PackedBatch& batch, std::span<float> logprobs) {
                std::vector<float> entropies(logprobs.size());
                reference.forward(batch, temperature, logprobs, entropies);
              });
}

std::vector<Sequence> estimate_advantages(const RunConfig& run_config, Replica& replica,
                                          std::span<const Episode> episodes, const std::vector<bool>& kept_groups,
                                          Metrics& metrics, const std::function<void()>& progress) {
  const AdvantageConfig& config = run_config.advantage;
  std::vector<Sequence> sequences;
  std::vector<double> scores, group_relative;  // [sequences]
  std::vector<bool> has_reward_std;            // [sequences]
  const auto groups = groups_of(episodes);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!kept_groups[g]) continue;
    const auto own = scores_of(groups[g]);
    for (const Episode& episode : groups[g]) sequences.push_back(make_sequence(episode));
    scores.insert(scores.end(), own.begin(), own.end());
    has_reward_std.insert(has_reward_std.end(), own.size(), reward_std(own) > 0);
    if (config.estimator == AdvantageEstimator::gae) continue;
    const auto advantages = group_advantages(own, config.estimator);
    group_relative.insert(group_relative.end(), advantages.begin(), advantages.end());
  }
  if (sequences.empty()) return sequences;

  const auto temperature = static_cast<float>(run_config.rollout.temperature);
  if (replica.reference)
    compute_reference_logprobs(*replica.reference_pass, replica.micro_batch_tokens, temperature, sequences, progress);
  auto rewards = kl_rewards(run_config.kl, sequences, metrics);
  if (replica.critic) compute_values(replica, temperature, sequences, progress);

  std::vector<std::vector<double>> advantages(sequences.size());
  std::vector<int> environments;
  std::vector<double> all;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    environments.push_back(sequences[i].episode->spec.environment);
    std::vector<double>& own = advantages[i];
    own.resize(rewards[i].size());
    if (config.estimator == AdvantageEstimator::gae) {
      rewards[i].back() += scores[i];
      generalized_advantages(rewards[i], sequences[i].values, config.gamma, config.lambda, own);
      sequences[i].returns.resize(own.size());
      for (std::size_t t = 0; t < own.size(); ++t) sequences[i].returns[t] = own[t] + sequences[i].values[t];
    } else {
      returns_to_go(rewards[i], config.gamma, own);
      for (double& advantage : own) advantage += group_relative[i];
    }
    all.insert(all.end(), own.begin(), own.end());
  }
  add_advantage_metrics(all, metrics);
  if (replica.critic) add_value_metrics(sequences, metrics);

  if (config.whiten) whiten(advantages, environments);
  if (run_config.rollout.group_size > 1) add_zero_std_share(advantages, has_reward_std, metrics);
  for (std::size_t i = 0; i < sequences.size(); ++i) sequences[i].advantages = std::move(advantages[i]);
  return sequences;
}

}  // namespace starpo
