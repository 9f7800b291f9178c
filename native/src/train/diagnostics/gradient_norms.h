#pragma once

#include <functional>
#include <span>

#include "engine/network.h"
#include "engine/network_pass.h"
#include "journal/journal.h"
#include "train/update/sequence.h"

namespace starpo {

struct GradientNormSettings {
  PolicyLossConfig loss;
  float temperature = 1;
  int episodes = 0;  // sample size per third
  int micro_batch_tokens = 0;
};

// Adds diagnostics/grad_norm_*_std: gradient norms of the policy objective, without entropy bonus and KL, for
// samples of groups with low, middle and high reward std (RAGEN-2's analysis). The loss is the mean over the tokens of
// a sample. sequences: whole groups in order, with advantages. Adds nothing for fewer than three groups. Clears the
// policy's gradients; weights and optimizer are unchanged. progress is called after every micro-batch.
void add_gradient_norms_by_reward_std(Network& policy, NetworkPass&, std::span<const Sequence> sequences,
                                      const GradientNormSettings&, Metrics&, const std::function<void()>& progress);

}  // namespace starpo
