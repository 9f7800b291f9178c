#include "train/update/policy_update.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "algorithm/logprob_gap.h"
#include "algorithm/policy_loss.h"
#include "algorithm/statistics.h"
#include "base/error.h"
#include "base/reproducible_math.h"
#include "journal/metric_names.h"
#include "train/update/critic_update.h"
#include "train/update/learning_rate.h"
#include "train/update/optimizer_step.h"

namespace starpo {
namespace {

class PolicyUpdate {
 public:
  PolicyUpdate(TrainerState& state, NetworkPass& pass, int iteration, std::span<const Sequence> sequences, const std::function<void(int, int)>& progress)
      : state_(state), pass_(pass), iteration_(iteration), sequences_(sequences), progress_(progress), critic_(state, iteration),
        trains_policy_(!state.critic || iteration > critic_warmup_end(state.config)) {
    const int mini_batch = state.config.policy_loss.mini_batch;
    steps_in_total_ = state.config.policy_loss.epochs * ((static_cast<int>(sequences_.size()) + mini_batch - 1) / mini_batch);
  }

  UpdateResult run() {
    for (int epoch = 0; epoch < state_.config.policy_loss.epochs; ++epoch)
      for (std::size_t first = 0; first < sequences_.size(); first += state_.config.policy_loss.mini_batch)
        step(first, std::min<std::size_t>(state_.config.policy_loss.mini_batch, sequences_.size() - first));
    UpdateResult result;
    if (trains_policy_) result = {summary(), {{std::string(metric::actor_grad_norm), norms_}, {std::string(metric::actor_loss), losses_}}};
    critic_.report(result.metrics, result.updates);
    return result;
  }

 private:
  void step(std::size_t first, std::size_t count) {
    const std::span<const Sequence> mini_batch = sequences_.subspan(first, count);
    std::vector<int> trained;
    for (const Sequence& sequence : mini_batch) trained.push_back(static_cast<int>(sequence.targets.size()));
    const auto weights = token_weights(trained, state_.config.policy_loss.average, longest_trajectory());

    state_.policy->trained().clear_gradients();
    critic_.begin(mini_batch);
    PolicyLossSums sums;
    for (const MicroBatch& micro : cut_into_micro_batches(mini_batch, state_.config.optimizer.micro_batch_tokens)) {
      accumulate(micro, mini_batch, weights, sums);
      if (!std::isfinite(sums.loss)) throw Error("non_finite_loss", "the policy loss is not finite", "lower optimizer.learning_rate and go on from the last checkpoint");
      progress_(steps_done_, steps_in_total_);
    }
    ++steps_done_;
    critic_.step();
    if (!trains_policy_) return;
    learning_rate_ = learning_rate(state_.config, iteration_, state_.policy->trained().steps());
    norms_.push_back(optimizer_step(state_, iteration_));
    losses_.push_back(sums.loss);
    add(sums);
  }

  void accumulate(const MicroBatch& micro, std::span<const Sequence> mini_batch, const std::vector<double>& weights, PolicyLossSums& sums) {
    const auto sequences = mini_batch.subspan(micro.first, micro.count);
    const PackedBatch batch = pack(sequences);
    logprobs_.resize(batch.targets.size());
    entropies_.resize(logprobs_.size());
    const auto temperature = static_cast<float>(state_.config.rollout.temperature);
    if (trains_policy_) {
      BatchLoss loss{Objective::policy, state_.config.policy_loss, {}, {}};
      if (state_.config.kl.placement == KlPlacement::loss) loss.kl = state_.config.kl;
      for (int i = 0; i < micro.count; ++i)
        loss.sequences.push_back({sequences[i].rollout_logprobs, sequences[i].advantages, sequences[i].reference_logprobs, weights[micro.first + i]});
      pass_.learn(batch, temperature, loss, logprobs_, entropies_, sums);
      measure_ratios(sequences);
    } else if (state_.critic->reads_policy()) {
      pass_.forward(batch, temperature, logprobs_, entropies_);
    }
    critic_.accumulate(sequences, batch, pass_);
  }

  void measure_ratios(std::span<const Sequence> sequences) {
    auto logprob = logprobs_.begin();
    for (const Sequence& sequence : sequences) {
      for (const float at_rollout : sequence.rollout_logprobs) {
        const double log_ratio = static_cast<double>(*logprob++) - at_rollout;
        largest_log_ratio_ = std::max(largest_log_ratio_, log_ratio);
        if (norms_.empty()) gap_.add(log_ratio);
      }
    }
  }

  int longest_trajectory() const {
    int turns = 0;
    for (const auto& environment : state_.config.environments)
      if (environment.share > 0) turns = std::max(turns, environment.max_turns);  // the others are only validated
    return turns * state_.config.rollout.max_response_tokens;
  }

  void add(const PolicyLossSums& sums) {
    totals_.entropy += sums.entropy;
    totals_.clipped_low += sums.clipped_low;
    totals_.clipped_high += sums.clipped_high;
    totals_.log_ratio += sums.log_ratio;
    totals_.tokens += sums.tokens;
  }

  Metrics summary() const {
    Metrics metrics;
    const auto set = [&](std::string_view name, double value) { metrics[std::string(name)] = value; };
    const double tokens = static_cast<double>(totals_.tokens);
    set(metric::actor_loss, mean(losses_));
    set(metric::actor_entropy, totals_.entropy / tokens);
    set(metric::actor_grad_norm, mean(norms_));
    set(metric::actor_grad_norm_max, *std::max_element(norms_.begin(), norms_.end()));
    set(metric::actor_clip_fraction_low, totals_.clipped_low / tokens);
    set(metric::actor_clip_fraction_high, totals_.clipped_high / tokens);
    set(metric::actor_ratio_max, reproducible_exp(largest_log_ratio_));
    set(metric::actor_approximate_kl, totals_.log_ratio / tokens);
    set(metric::actor_learning_rate, learning_rate_);
    const double gap_tokens = static_cast<double>(gap_.tokens);
    set(metric::rollout_logprob_gap, gap_.sum / gap_tokens);
    set(metric::rollout_logprob_gap_max, gap_.largest);
    set(metric::rollout_logprob_gap_kl, gap_.kl / gap_tokens);
    return metrics;
  }

  TrainerState& state_;
  NetworkPass& pass_;
  int iteration_;
  std::span<const Sequence> sequences_;
  const std::function<void(int, int)>& progress_;
  CriticUpdate critic_;
  bool trains_policy_;  // not while the critic warms up
  std::vector<float> logprobs_, entropies_;
  std::vector<double> norms_, losses_;
  PolicyLossSums totals_;
  LogprobGap gap_;
  double learning_rate_ = 0;
  double largest_log_ratio_ = -std::numeric_limits<double>::infinity();  // of all steps
  int steps_done_ = 0, steps_in_total_ = 0;
};

}  // namespace

UpdateResult update_policy(TrainerState& state, NetworkPass& pass, int iteration, std::span<const Sequence> sequences,
                           const std::function<void(int done, int total)>& progress) {
  if (sequences.empty()) return {};
  return PolicyUpdate(state, pass, iteration, sequences, progress).run();
}

}  // namespace starpo
