#include "train/policy_update.h"

#include <algorithm>
#include <cmath>

#include "algorithm/policy_loss.h"
#include "algorithm/statistics.h"
#include "base/error.h"
#include "journal/metric_names.h"
#include "train/learning_rate.h"
#include "train/optimizer_step.h"
#include "train/sequence.h"

namespace starpo {
namespace {

class PolicyUpdate {
 public:
  PolicyUpdate(TrainerState& state, TrainingPass& pass, int iteration, std::span<const Episode* const> episodes, std::span<const double> advantages,
               const std::function<void(int, int)>& progress)
      : state_(state), pass_(pass), iteration_(iteration), advantages_(advantages), progress_(progress), gradients_(state.model.layout().size()) {
    for (const Episode* episode : episodes) sequences_.push_back(make_sequence(*episode));
    const int mini_batch = state.config.policy_loss.mini_batch;
    steps_in_total_ = state.config.policy_loss.epochs * ((static_cast<int>(sequences_.size()) + mini_batch - 1) / mini_batch);
  }

  UpdateResult run() {
    for (int epoch = 0; epoch < state_.config.policy_loss.epochs; ++epoch)
      for (std::size_t first = 0; first < sequences_.size(); first += state_.config.policy_loss.mini_batch)
        step(first, std::min<std::size_t>(state_.config.policy_loss.mini_batch, sequences_.size() - first));
    return {summary(), {{std::string(metric::actor_grad_norm), norms_}, {std::string(metric::actor_loss), losses_}}};
  }

 private:
  void step(std::size_t first, std::size_t count) {
    const std::span<const Sequence> mini_batch(sequences_.data() + first, count);
    std::vector<int> trained;
    for (const Sequence& sequence : mini_batch) trained.push_back(static_cast<int>(sequence.targets.size()));
    const auto weights = token_weights(trained, state_.config.policy_loss.average, longest_trajectory());

    std::fill(gradients_.begin(), gradients_.end(), 0.0f);
    PolicyLossSums sums;
    for (const MicroBatch& micro : pack(mini_batch, state_.config.optimizer.micro_batch_tokens)) {
      accumulate(micro, mini_batch, weights, first, sums);
      if (!std::isfinite(sums.loss)) throw Error("non_finite_loss", "the policy loss is not finite", "lower optimizer.learning_rate and go on from the last checkpoint");
      progress_(static_cast<int>(norms_.size()), steps_in_total_);
    }
    learning_rate_ = learning_rate(state_.config, iteration_, state_.optimizer.steps);
    norms_.push_back(optimizer_step(state_, iteration_, gradients_));
    losses_.push_back(sums.loss);
    add(sums);
  }

  void accumulate(const MicroBatch& micro, std::span<const Sequence> mini_batch, const std::vector<double>& weights, std::size_t first, PolicyLossSums& sums) {
    const std::size_t targets = micro.batch.targets.size();
    logprobs_.resize(targets);
    entropies_.resize(targets);
    logprob_gradients_.resize(targets);
    entropy_gradients_.resize(targets);
    pass_.forward(micro.batch, static_cast<float>(state_.config.rollout.temperature), logprobs_, entropies_);

    std::size_t offset = 0;
    for (int i = micro.first; i < micro.first + micro.count; ++i) {
      const Sequence& sequence = mini_batch[i];
      const std::size_t n = sequence.targets.size();
      const auto part = [&](std::vector<float>& values) { return std::span(values).subspan(offset, n); };
      if (norms_.empty())
        for (std::size_t t = 0; t < n; ++t) gap_ += std::abs(static_cast<double>(logprobs_[offset + t]) - sequence.rollout_logprobs[t]), ++gap_tokens_;
      policy_loss(part(logprobs_), part(entropies_), sequence.rollout_logprobs, advantages_[first + i], weights[i], state_.config.policy_loss, sums,
                  part(logprob_gradients_), part(entropy_gradients_));
      offset += n;
    }
    pass_.backward(logprob_gradients_, entropy_gradients_, gradients_);
  }

  int longest_trajectory() const {
    int turns = 0;
    for (const auto& environment : state_.config.environments) turns = std::max(turns, environment.max_turns);
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
    set(metric::actor_approximate_kl, totals_.log_ratio / tokens);
    set(metric::actor_learning_rate, learning_rate_);
    set(metric::rollout_logprob_gap, gap_ / static_cast<double>(gap_tokens_));

    std::vector<double> by_token;
    for (std::size_t i = 0; i < sequences_.size(); ++i) by_token.insert(by_token.end(), sequences_[i].targets.size(), advantages_[i]);
    set(metric::advantage_mean, mean(by_token));
    set(metric::advantage_std, standard_deviation(by_token));
    return metrics;
  }

  TrainerState& state_;
  TrainingPass& pass_;
  int iteration_;
  std::span<const double> advantages_;
  const std::function<void(int, int)>& progress_;
  std::vector<Sequence> sequences_;
  std::vector<float> gradients_;
  std::vector<float> logprobs_, entropies_, logprob_gradients_, entropy_gradients_;
  std::vector<double> norms_, losses_;
  PolicyLossSums totals_;
  double gap_ = 0, learning_rate_ = 0;
  long gap_tokens_ = 0;
  int steps_in_total_ = 0;
};

}  // namespace

UpdateResult update_policy(TrainerState& state, TrainingPass& pass, int iteration, std::span<const Episode* const> episodes, std::span<const double> advantages,
                           const std::function<void(int done, int total)>& progress) {
  if (episodes.empty()) return {};
  return PolicyUpdate(state, pass, iteration, episodes, advantages, progress).run();
}

}  // namespace starpo
