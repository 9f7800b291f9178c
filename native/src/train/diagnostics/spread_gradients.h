#pragma once

#include <functional>
#include <span>

#include "engine/network.h"
#include "engine/network_pass.h"
#include "journal/journal.h"
#include "train/update/sequence.h"

namespace starpo {

struct SpreadGradientSettings {
  PolicyLossConfig loss;
  float temperature = 1;
  int episodes = 0;  // of each third
  int micro_batch_tokens = 0;
};

// What groups of little, middling and much spread of scores would teach by themselves (RAGEN-2's analysis): the norms
// of the policy objective's gradients, without entropy bonus and KL, over the mean of a sample's tokens, as
// diagnostics/grad_norm_*_spread. sequences: whole groups in order, with their advantages. Absent for fewer than three
// groups. The policy's gradients are clear afterwards; weights and optimiser stay as they are. progress is called after
// every micro-batch.
void add_spread_gradients(Network& policy, NetworkPass&, std::span<const Sequence> sequences,
                          const SpreadGradientSettings&, Metrics&, const std::function<void()>& progress);

}  // namespace starpo
