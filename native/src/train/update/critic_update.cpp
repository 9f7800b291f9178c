#include "train/update/critic_update.h"

#include <cmath>

#include "algorithm/objectives.h"
#include "algorithm/statistics.h"
#include "base/error.h"
#include "journal/metric_names.h"
#include "train/update/optimizer_step.h"

namespace starpo {

CriticUpdate::CriticUpdate(const RunConfig& config, Critic* critic, int iteration) : config_(config), critic_(critic), iteration_(iteration) {}

void CriticUpdate::begin(std::span<const Sequence> mini_batch) {
  std::size_t tokens = 0;
  for (const Sequence& sequence : mini_batch) tokens += sequence.targets.size();
  weight_ = 1.0 / static_cast<double>(tokens);
  loss_ = 0;
  if (critic_) critic_->trained().clear_gradients();
}

void CriticUpdate::accumulate(std::span<const Sequence> micro_batch, const PackedBatch& batch, const NetworkPass& policy) {
  if (!critic_) return;
  values_.resize(batch.targets.size());
  value_gradients_.resize(values_.size());
  critic_->forward(batch, policy, values_);
  std::size_t offset = 0;
  for (const Sequence& sequence : micro_batch) {
    const std::size_t n = sequence.targets.size();
    loss_ += value_loss(std::span(values_).subspan(offset, n), sequence.values, sequence.returns, config_.critic.value_clip, weight_,
                        std::span(value_gradients_).subspan(offset, n));
    offset += n;
  }
  if (!std::isfinite(loss_)) throw Error("non_finite_loss", "the critic's loss is not finite", "lower critic.learning_rate and go on from the last checkpoint");
  critic_->backward(value_gradients_);
}

void CriticUpdate::step() {
  if (!critic_) return;
  norms_.push_back(critic_step(config_, critic_->trained(), iteration_));
  losses_.push_back(loss_);
}

void CriticUpdate::report(Metrics& metrics, Updates& updates) const {
  if (!critic_) return;
  metrics[std::string(metric::critic_loss)] = mean(losses_);
  metrics[std::string(metric::critic_grad_norm)] = mean(norms_);
  updates[std::string(metric::critic_loss)] = losses_;
  updates[std::string(metric::critic_grad_norm)] = norms_;
}

}  // namespace starpo
