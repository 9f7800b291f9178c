#pragma once

#include <functional>
#include <span>
#include <vector>

#include "config/run_config.h"
#include "journal/journal.h"
#include "rollout/episode.h"
#include "train/replica/replica.h"
#include "train/update/replay_buffer.h"
#include "train/update/sequence.h"

namespace starpo {

// Sets a member of the sequences to the log-probabilities of a pass. progress is called after every micro-batch.
void compute_logprobs(NetworkPass&, std::vector<float> Sequence::* member, int micro_batch_tokens, float temperature,
                      std::vector<Sequence>&, const std::function<void()>& progress);

// Groups of earlier iterations for the update of this one.
struct ReplayedGroups {
  int iteration = 0;
  std::vector<const ReplayGroup*> groups;
};

// Returns the samples of the kept groups and of the replayed ones, in order, with an advantage for every trained token:
// in-reward KL, then reward normalization, then the estimator, then advantage.gate, which removes episodes, then
// whitening per environment. Estimators use whole episodes, not samples.
// episodes: ordered by group; kept_groups: [groups]; replayed: of this iteration. Both must outlive the result.
// progress is called after every forward pass. Adds actor/kl_to_reference, critic/* of the values and advantage/*
// (before whitening, except zero_std_share and logprob_*).
std::vector<Sequence> estimate_advantages(const RunConfig&, Replica&, std::span<const Episode> episodes,
                                          const std::vector<bool>& kept_groups, Metrics&,
                                          const std::function<void()>& progress, const ReplayedGroups& replayed = {});

}  // namespace starpo
