#include "train/warm_start/warm_start.h"

#include <algorithm>
#include <cmath>

#include "algorithm/statistics.h"
#include "base/error.h"
#include "journal/metric_names.h"
#include "train/update/learning_rate.h"
#include "train/update/optimizer_step.h"
#include "train/update/sequence.h"
#include "train/warm_start/demonstrations.h"

namespace starpo {
namespace {

std::vector<Episode> demonstration_batch(const RunConfig& config, const Playground& playground, ThreadPool& threads, std::uint64_t first) {
  std::vector<Episode> episodes(config.warm_start.batch);
  threads.parallel_for(config.warm_start.batch, [&](int i) { episodes[i] = play_demonstration(config, playground, first + i); });
  return episodes;
}

// Mean negative log-probability of the batch's reply tokens; adds its gradient. Calls progress after every micro-batch.
double cross_entropy(Replica& replica, const std::vector<Episode>& demonstrations, const std::function<void()>& progress) {
  std::vector<Sequence> sequences;
  double targets = 0;
  for (const Episode& episode : demonstrations) targets += static_cast<double>(sequences.emplace_back(make_sequence(episode)).targets.size());
  PolicyLossSums sums;
  for (const MicroBatch& micro : cut_into_micro_batches(sequences, replica.micro_batch_tokens)) {
    const PackedBatch batch = pack(std::span(sequences).subspan(micro.first, micro.count));
    std::vector<float> logprobs(batch.targets.size()), entropies(logprobs.size());
    BatchLoss loss{Objective::likelihood, {}, {}, std::vector<SequenceLoss>(micro.count)};
    for (SequenceLoss& sequence : loss.sequences) sequence.weight = 1 / targets;
    replica.policy_pass->learn(batch, 1, loss, logprobs, entropies, sums);
    progress();
  }
  return sums.loss;
}

}  // namespace

UpdateResult warm_start_iteration(const RunConfig& run_config, const Playground& playground, Replica& replica, ThreadPool& threads, int iteration,
                                  const std::function<void(int done, int total)>& progress) {
  const WarmStartConfig& config = run_config.warm_start;
  Trainable& trained = replica.policy->trained();
  std::vector<double> losses, norms;
  double rate = 0;
  for (int step = 0; step < config.steps_per_iteration; ++step) {
    const std::uint64_t first = (static_cast<std::uint64_t>(iteration - 1) * config.steps_per_iteration + step) * config.batch;
    const auto demonstrations = demonstration_batch(run_config, playground, threads, first);
    trained.clear_gradients();
    const double loss = cross_entropy(replica, demonstrations, [&] { progress(step, config.steps_per_iteration); });
    if (!std::isfinite(loss)) throw Error("non_finite_loss", "the warm start's loss is not finite", "lower optimizer.learning_rate");
    rate = learning_rate(run_config, iteration, trained.steps());
    norms.push_back(optimizer_step(run_config, trained, iteration));
    losses.push_back(loss);
  }
  Metrics metrics{{std::string(metric::warm_start_loss), mean(losses)},
                  {std::string(metric::actor_grad_norm), mean(norms)},
                  {std::string(metric::actor_grad_norm_max), *std::max_element(norms.begin(), norms.end())},
                  {std::string(metric::actor_learning_rate), rate}};
  return {metrics, {{std::string(metric::actor_grad_norm), norms}}};
}

}  // namespace starpo
