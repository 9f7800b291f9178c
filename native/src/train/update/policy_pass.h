#pragma once

#include <functional>
#include <map>
#include <span>

#include "algorithm/sample_loss.h"
#include "engine/network_pass.h"
#include "train/update/sequence.h"

namespace starpo {

// Returns the weights of the sequences of a mini-batch in its loss. Averages are over episodes, not over samples.
std::vector<SampleWeights> sequence_weights(std::span<const Sequence>, const PolicyLossConfig&, int longest);

// Returns the loss inputs of a sequence for log-probabilities and entropies of a pass: [targets].
LossSample loss_sample(const Sequence&, std::span<const float> logprobs, std::span<const float> entropies,
                       const PolicyLossConfig&);

// Sums of log-ratios over the trained tokens of episodes.
using EpisodeLogRatios = std::map<const Episode*, double>;

// Returns the sums that the ratios of trajectories need before the first gradient: those of a mini-batch in which an
// episode has several samples, at the current weights. Returns nothing for other losses and mini-batches. progress is
// called after each forward pass.
EpisodeLogRatios trajectory_log_ratios(NetworkPass&, std::span<const Sequence> mini_batch, const LossConfig&,
                                       int micro_batch_tokens, float temperature,
                                       const std::function<void()>& progress);

// Adds the policy's loss on a micro-batch to the sums, and its gradient to the network. A fused loss takes one pass.
// Any other loss takes a forward pass, the gradient of each token on the host, and a backward pass. Writes the
// log-probability and entropy of each target. episode_log_ratios: those of the mini-batch.
void policy_pass(NetworkPass&, const PackedBatch&, std::span<const Sequence>, std::span<const SampleWeights>,
                 const EpisodeLogRatios& episode_log_ratios, const LossConfig&, float temperature,
                 std::span<float> logprobs, std::span<float> entropies, PolicyLossSums&);

}  // namespace starpo
