#include "train/update/policy_update.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "algorithm/objectives.h"
#include "algorithm/statistics.h"
#include "base/error.h"
#include "base/reproducible_math.h"
#include "journal/metric_names.h"
#include "train/update/optimizer_step.h"
#include "train/update/policy_pass.h"

namespace starpo {
namespace {

// The critic's part of an update. It uses the policy's mini-batches, each averaged over the tokens of the
// value mask. Does nothing without a critic.
class CriticUpdate {
 public:
  // critic: may be null. It and the configuration must outlive this object.
  CriticUpdate(const RunConfig& config, Critic* critic, int iteration)
      : config_(config), critic_(critic), iteration_(iteration) {}

  void begin(std::span<const Sequence> mini_batch) {
    if (!critic_) return;
    std::ptrdiff_t tokens = 0;
    for (const Sequence& sequence : mini_batch) tokens += std::ranges::count(sequence.value_mask, true);
    weight_ = 1.0 / static_cast<double>(tokens);
    loss_ = 0;
    critic_->trained().clear_gradients();
  }

  // Call after the policy's pass over the micro-batch if the critic reads the policy. Errors: non_finite_loss.
  void accumulate(std::span<const Sequence> micro_batch, const PackedBatch& batch, const NetworkPass& policy) {
    if (!critic_) return;
    values_.resize(batch.targets.size());
    value_gradients_.resize(values_.size());
    critic_->forward(batch, policy, values_);
    std::size_t offset = 0;
    for (const Sequence& sequence : micro_batch) {
      const std::size_t n = sequence.targets.size();
      loss_ += value_loss(std::span(values_).subspan(offset, n), sequence.values, sequence.value_targets,
                          sequence.value_mask, config_.critic.value_clip, weight_,
                          std::span(value_gradients_).subspan(offset, n));
      offset += n;
    }
    if (!std::isfinite(loss_))
      throw Error("non_finite_loss", "the critic's loss is not finite",
                  "fork the run from its last checkpoint with a lower critic.learning_rate");
    critic_->backward(value_gradients_);
  }

  // Throws the errors of critic_step.
  void step() {
    if (!critic_) return;
    norms_.push_back(critic_step(config_, critic_->trained(), iteration_));
    losses_.push_back(loss_);
  }

  void report(Metrics& metrics, Updates& updates) const {
    if (!critic_) return;
    metrics[std::string(metric::kCriticLoss)] = mean(losses_);
    metrics[std::string(metric::kCriticGradNorm)] = mean(norms_);
    updates[std::string(metric::kCriticLoss)] = losses_;
    updates[std::string(metric::kCriticGradNorm)] = norms_;
  }

 private:
  const RunConfig& config_;
  Critic* critic_;
  int iteration_;
  double weight_ = 0, loss_ = 0;
  std::vector<float> values_, value_gradients_;
  std::vector<double> losses_, norms_;
};

class PolicyUpdate {
 public:
  PolicyUpdate(const RunConfig& config, Replica& replica, int iteration, std::span<Sequence> sequences,
               const std::function<void(int, int)>& progress)
      : config_(config),
        loss_(loss_config(config)),
        replica_(replica),
        iteration_(iteration),
        mini_batches_(split_into_mini_batches(sequences, config.policy_loss.mini_batch)),
        progress_(progress),
        critic_(config, replica.critic.get(), iteration),
        trains_policy_(!replica.critic || iteration > critic_warmup_end(config)),
        steps_in_total_(config.policy_loss.epochs * static_cast<int>(mini_batches_.size())) {}

  UpdateResult run() {
    for (int epoch = 0; epoch < config_.policy_loss.epochs; ++epoch)
      for (const auto mini_batch : mini_batches_) step(mini_batch);
    UpdateResult result;
    if (trains_policy_)
      result = {summary(), {{std::string(metric::kActorGradNorm), norms_}, {std::string(metric::kActorLoss), losses_}}};
    critic_.report(result.metrics, result.updates);
    return result;
  }

 private:
  void step(std::span<Sequence> sequences) {
    const std::span<const Sequence> mini_batch = arrange(sequences);
    const auto weights = sequence_weights(mini_batch, config_.policy_loss, longest_trajectory());
    for (const Sequence& sequence : mini_batch) trained_tokens_ += static_cast<double>(sequence.targets.size());
    const auto report_progress = [this] { progress_(steps_done_, steps_in_total_); };
    if (trains_policy_)
      log_ratios_ = trajectory_log_ratios(*replica_.policy_pass, mini_batch, loss_, replica_.micro_batch_tokens,
                                          temperature(), report_progress);

    replica_.policy->trained().clear_gradients();
    critic_.begin(mini_batch);
    PolicyLossSums sums;
    const auto active = mini_batch.first(active_);
    for (const MicroBatch& micro : split_into_micro_batches(active, replica_.micro_batch_tokens)) {
      accumulate(micro, active, weights, sums);
      if (!std::isfinite(sums.loss))
        throw Error("non_finite_loss", "the policy loss is not finite",
                    "fork the run from its last checkpoint with a lower optimizer.learning_rate");
      report_progress();
    }
    ++steps_done_;
    critic_.step();
    if (!trains_policy_) return;
    learning_rate_ = learning_rate(config_, iteration_, replica_.policy->trained().steps());
    norms_.push_back(optimizer_step(config_, replica_.policy->trained(), iteration_));
    losses_.push_back(sums.loss);
    totals_ += sums;
  }

  // Moves sequences without a gradient to the end of a mini-batch: their advantages are 0, and no other term of the
  // loss acts on them. They count in the averages, but need no pass.
  std::span<const Sequence> arrange(std::span<Sequence> mini_batch) {
    active_ = mini_batch.size();
    samples_ += static_cast<double>(active_);
    const PolicyLossConfig& policy = config_.policy_loss;
    if (replica_.critic || policy.entropy_coefficient != 0 || policy.log_ratio_penalty > 0 ||
        policy.likelihood_coefficient > 0 || policy.cross_entropy_coefficient > 0 || loss_.kl.coefficient > 0)
      return mini_batch;
    const auto skipped = std::ranges::stable_partition(mini_batch, [](const Sequence& sequence) {
      return std::ranges::any_of(sequence.advantages, [](double advantage) { return advantage != 0; });
    });
    active_ -= skipped.size();
    skipped_ += static_cast<double>(skipped.size());
    return mini_batch;
  }

  void accumulate(const MicroBatch& micro, std::span<const Sequence> mini_batch, std::span<const SampleWeights> weights,
                  PolicyLossSums& sums) {
    const auto sequences = mini_batch.subspan(micro.first, micro.count);
    const PackedBatch batch = pack(sequences);
    logprobs_.resize(batch.targets.size());
    entropies_.resize(logprobs_.size());
    if (trains_policy_) {
      policy_pass(*replica_.policy_pass, batch, sequences, weights.subspan(micro.first, micro.count), log_ratios_,
                  loss_, temperature(), logprobs_, entropies_, sums);
      measure_ratios(sequences);
    } else if (replica_.critic->reads_policy()) {
      replica_.policy_pass->forward(batch, temperature(), logprobs_, entropies_);
    }
    critic_.accumulate(sequences, batch, *replica_.policy_pass);
  }

  void measure_ratios(std::span<const Sequence> sequences) {
    auto logprob = logprobs_.begin();
    for (const Sequence& sequence : sequences) {
      for (const float at_rollout : sequence.rollout_logprobs) {
        const double log_ratio = static_cast<double>(*logprob++) - at_rollout;
        largest_log_ratio_ = std::max(largest_log_ratio_, log_ratio);
        if (norms_.empty() && sequence.staleness == 0) gap_.add(log_ratio);
      }
    }
  }

  float temperature() const { return static_cast<float>(config_.rollout.temperature); }

  int longest_trajectory() const {
    int turns = 0;
    for (const auto& environment : config_.environments)
      if (environment.share > 0)
        turns = std::max(turns, environment.max_turns);  // the others are used only for validation
    return turns * config_.rollout.max_response_tokens;
  }

  Metrics summary() const {
    Metrics metrics;
    const auto set = [&](std::string_view name, double value) { metrics[std::string(name)] = value; };
    // Sequences without a gradient are never clipped, and have no entropy here.
    const auto set_mean = [&](std::string_view name, double sum, double count) {
      if (count > 0) set(name, sum / count);
    };
    const double passed = static_cast<double>(totals_.tokens);
    set(metric::kActorLoss, mean(losses_));
    add_components(metrics);
    set_mean(metric::kActorEntropy, totals_.entropy, passed);
    set(metric::kActorGradNorm, mean(norms_));
    set(metric::kActorGradNormMax, *std::max_element(norms_.begin(), norms_.end()));
    set(metric::kActorClipFractionLow, totals_.clipped_low / trained_tokens_);
    set(metric::kActorClipFractionHigh, totals_.clipped_high / trained_tokens_);
    set(metric::kActorRatioMax, passed > 0 ? reproducible_exp(largest_log_ratio_) : 1);
    set_mean(metric::kActorApproximateKl, totals_.log_ratio, passed);
    set(metric::kActorSkippedShare, skipped_ / samples_);
    set(metric::kActorLearningRate, learning_rate_);
    if (config_.correction.is_active()) add_corrections(metrics);
    const double gap_tokens = static_cast<double>(gap_.tokens);
    if (gap_.tokens == 0) return metrics;
    set(metric::kRolloutLogprobGap, gap_.sum / gap_tokens);
    set(metric::kRolloutLogprobGapMax, gap_.largest);
    set(metric::kRolloutLogprobGapKl, gap_.kl / gap_tokens);
    return metrics;
  }

  // Adds the terms of the loss that act, per optimizer step.
  void add_components(Metrics& metrics) const {
    const double steps = static_cast<double>(losses_.size());
    const PolicyLossConfig& policy = config_.policy_loss;
    at(metrics, metric::kActorLossPolicy) = totals_.policy / steps;
    if (policy.entropy_coefficient != 0) at(metrics, metric::kActorLossEntropy) = totals_.entropy_bonus / steps;
    if (loss_.kl.coefficient > 0) at(metrics, metric::kActorLossKl) = totals_.kl / steps;
    if (policy.log_ratio_penalty > 0) at(metrics, metric::kActorLossLogRatio) = totals_.log_ratio_penalty / steps;
    if (policy.likelihood_coefficient > 0) at(metrics, metric::kActorLossLikelihood) = totals_.likelihood / steps;
    if (policy.cross_entropy_coefficient > 0)
      at(metrics, metric::kActorLossCrossEntropy) = totals_.cross_entropy / steps;
  }

  void add_corrections(Metrics& metrics) const {
    const double tokens = static_cast<double>(totals_.tokens);
    const auto set_share = [&](std::string_view name, double count, double all) {
      if (all > 0) at(metrics, name) = count / all;
    };
    const auto& [truncated, masked, signs] = std::tie(totals_.truncated, totals_.masked, totals_.signs);
    set_share(metric::kCorrectionTruncatedPositive, truncated.positive, signs.positive);
    set_share(metric::kCorrectionTruncatedNegative, truncated.negative, signs.negative);
    set_share(metric::kCorrectionMaskedPositive, masked.positive, signs.positive);
    set_share(metric::kCorrectionMaskedNegative, masked.negative, signs.negative);
    if (totals_.squared_weights > 0)
      at(metrics, metric::kCorrectionEffectiveSampleSize) =
          totals_.weights * totals_.weights / (tokens * totals_.squared_weights);
    if (tokens > 0) at(metrics, metric::kCorrectionChi2) = totals_.squared_ratios / tokens - 1;
  }

  const RunConfig& config_;
  LossConfig loss_;
  Replica& replica_;
  int iteration_;
  std::vector<std::span<Sequence>> mini_batches_;
  const std::function<void(int, int)>& progress_;
  CriticUpdate critic_;
  bool trains_policy_;  // false while the critic warms up
  std::vector<float> logprobs_, entropies_;
  std::vector<double> norms_, losses_;
  PolicyLossSums totals_;
  EpisodeLogRatios log_ratios_;                            // of the mini-batch
  std::size_t active_ = 0;                                 // sequences of the mini-batch that have a gradient
  double samples_ = 0, trained_tokens_ = 0, skipped_ = 0;  // of all steps
  LogprobGap gap_;
  double learning_rate_ = 0;
  double largest_log_ratio_ = -std::numeric_limits<double>::infinity();  // of all steps
  int steps_done_ = 0, steps_in_total_ = 0;
};

}  // namespace

UpdateResult update_policy(const RunConfig& config, Replica& replica, int iteration, std::span<Sequence> sequences,
                           const std::function<void(int done, int total)>& progress) {
  if (sequences.empty()) return {};
  return PolicyUpdate(config, replica, iteration, sequences, progress).run();
}

}  // namespace starpo
