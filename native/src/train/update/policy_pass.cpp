#include "train/update/policy_pass.h"

#include <algorithm>
#include <numeric>

namespace starpo {
namespace {

std::vector<double> doubles(std::span<const float> values) { return {values.begin(), values.end()}; }

double sum_of_log_ratios(const Sequence& sequence, std::span<const float> logprobs) {
  const auto& old = sequence.old_logprobs.empty() ? sequence.rollout_logprobs : sequence.old_logprobs;
  double sum = 0;
  for (std::size_t t = 0; t < logprobs.size(); ++t) sum += static_cast<double>(logprobs[t]) - old[t];
  return sum;
}

}  // namespace

std::vector<SampleWeights> sequence_weights(std::span<const Sequence> sequences, const PolicyLossConfig& config,
                                            int longest) {
  std::vector<SampleTokens> tokens;
  std::map<const Episode*, int> trajectories;
  for (const Sequence& sequence : sequences) {
    const auto reasoning = reasoning_tokens(sequence);
    const auto number = static_cast<int>(trajectories.size());
    tokens.push_back({trajectories.try_emplace(sequence.episode, number).first->second,
                      static_cast<int>(sequence.targets.size()), static_cast<int>(std::ranges::count(reasoning, true)),
                      std::accumulate(sequence.imitation.begin(), sequence.imitation.end(), 0.0)});
  }
  return sample_weights(tokens, config, longest);
}

LossSample loss_sample(const Sequence& sequence, std::span<const float> logprobs, std::span<const float> entropies,
                       const PolicyLossConfig& config) {
  LossSample sample{
      doubles(logprobs),  doubles(entropies),   doubles(sequence.rollout_logprobs), {}, sequence.advantages, {}, {},
      sequence.imitation, sequence.turn_lengths};
  sample.old_logprobs = sequence.old_logprobs.empty() ? sample.rollout_logprobs : doubles(sequence.old_logprobs);
  sample.reference_logprobs = doubles(sequence.reference_logprobs);
  if (config.entropy_tokens == EntropyTokens::reasoning) sample.reasoning = reasoning_tokens(sequence);
  sample.first_turn = sequence.first_turn();
  return sample;
}

EpisodeLogRatios trajectory_log_ratios(NetworkPass& pass, std::span<const Sequence> mini_batch,
                                       const LossConfig& config, int micro_batch_tokens, float temperature,
                                       const std::function<void()>& progress) {
  EpisodeLogRatios sums;
  if (config.policy.ratio_level != RatioLevel::trajectory || std::ranges::all_of(mini_batch, [](const Sequence& each) {
        return each.turns.size() == each.episode->turns.size();
      }))
    return sums;
  for (const MicroBatch& micro : split_into_micro_batches(mini_batch, micro_batch_tokens)) {
    const auto sequences = mini_batch.subspan(micro.first, micro.count);
    const PackedBatch batch = pack(sequences);
    std::vector<float> logprobs(batch.targets.size()), entropies(batch.targets.size());
    pass.forward(batch, temperature, logprobs, entropies);
    std::span<const float> left = logprobs;
    for (const Sequence& sequence : sequences) {
      sums[sequence.episode] += sum_of_log_ratios(sequence, left.first(sequence.targets.size()));
      left = left.subspan(sequence.targets.size());
    }
    progress();
  }
  return sums;
}

void policy_pass(NetworkPass& pass, const PackedBatch& batch, std::span<const Sequence> sequences,
                 std::span<const SampleWeights> weights, const EpisodeLogRatios& episode_log_ratios,
                 const LossConfig& config, float temperature, std::span<float> logprobs, std::span<float> entropies,
                 PolicyLossSums& sums) {
  if (is_fused(config)) {
    BatchLoss loss{Objective::policy, config.policy, config.kl, {}};
    for (std::size_t i = 0; i < sequences.size(); ++i)
      loss.sequences.push_back(
          {sequences[i].rollout_logprobs, sequences[i].advantages, sequences[i].reference_logprobs, weights[i].policy});
    return pass.forward_backward(batch, temperature, loss, logprobs, entropies, sums);
  }
  pass.forward(batch, temperature, logprobs, entropies);
  std::vector<float> logprob_gradients, entropy_gradients;
  std::size_t first = 0;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const std::size_t count = sequences[i].targets.size();
    const auto own = logprobs.subspan(first, count);
    LossSample sample = loss_sample(sequences[i], own, entropies.subspan(first, count), config.policy);
    if (const auto sum = episode_log_ratios.find(sequences[i].episode); sum != episode_log_ratios.end())
      sample.other_log_ratios = sum->second - sum_of_log_ratios(sequences[i], own);
    std::vector<double> from_logprob(count), from_entropy(count);
    sample_loss(sample, weights[i], config, sums, from_logprob, from_entropy);
    logprob_gradients.insert(logprob_gradients.end(), from_logprob.begin(), from_logprob.end());
    entropy_gradients.insert(entropy_gradients.end(), from_entropy.begin(), from_entropy.end());
    first += count;
  }
  pass.backward(logprob_gradients, entropy_gradients);
}

}  // namespace starpo
