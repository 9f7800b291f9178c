#pragma once

#include <span>
#include <vector>

#include "config/run_config.h"
#include "journal/journal.h"
#include "train/replica/critic.h"
#include "train/update/sequence.h"

namespace starpo {

// The critic's part of an update: the same mini-batches as the policy's, each averaged over its own tokens. Without a critic it does nothing.
class CriticUpdate {
 public:
  // critic: null without one; it and the configuration outlive the update.
  CriticUpdate(const RunConfig&, Critic* critic, int iteration);

  void begin(std::span<const Sequence> mini_batch);

  // After the policy's pass has gone over the micro-batch, where the critic reads the policy. Errors: non_finite_loss.
  void accumulate(std::span<const Sequence> micro_batch, const PackedBatch&, const NetworkPass& policy);

  // Errors: those of critic_step.
  void step();

  void report(Metrics&, Updates&) const;

 private:
  const RunConfig& config_;
  Critic* critic_;
  int iteration_;
  double weight_ = 0, loss_ = 0;
  std::vector<float> values_, value_gradients_;
  std::vector<double> losses_, norms_;
};

}  // namespace starpo
