#include "train/warm_start/warm_start.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "algorithm/statistics.h"
#include "base/error.h"
#include "journal/metric_names.h"
#include "train/context/levels.h"
#include "train/update/optimizer_step.h"
#include "train/update/sequence.h"

namespace starpo {
namespace {

DemonstrationStyle draw_style(const WarmStartConfig& config, DemonstrationDraws& draws) {
  const double u = draws.uniform() * (config.plain + config.positions + config.careful);
  return u < config.plain                      ? DemonstrationStyle::plain
         : u < config.plain + config.positions ? DemonstrationStyle::positions
                                               : DemonstrationStyle::careful;
}

Demonstration demonstrate(const Environment& environment, const WarmStartConfig& config, int limit,
                          DemonstrationDraws& draws) {
  const DemonstrationStyle style = draw_style(config, draws);
  const bool mistake = draws.uniform() < config.mistakes;
  if (auto demonstration = environment.demonstrate({style, mistake, limit, draws})) return *std::move(demonstration);
  throw Error("warm_start_unsupported", "this environment has no demonstrations", "set task to reinforce");
}

std::string response_text(const Demonstration& demonstration, bool think) {
  std::string answer;
  for (const auto& action : demonstration.actions) answer += (answer.empty() ? "" : " || ") + action;
  return think ? demonstration.reasoning + "</think><answer>" + answer + "</answer>" : answer + "</answer>";
}

int draw_environment(const RunConfig& config, DemonstrationDraws& draws) {
  double total = 0;
  for (const auto& environment : config.environments) total += environment.share;
  double u = draws.uniform() * total;
  for (std::size_t e = 0; e < config.environments.size(); ++e) {
    if (u < config.environments[e].share) return static_cast<int>(e);
    u -= config.environments[e].share;
  }
  return static_cast<int>(config.environments.size()) - 1;
}

std::vector<Episode> demonstration_batch(const RunConfig& config, const Playground& playground, ThreadPool& threads,
                                         std::uint64_t first) {
  std::vector<Episode> episodes(config.warm_start.batch);
  threads.parallel_for(config.warm_start.batch,
                       [&](int i) { episodes[i] = play_demonstration(config, playground, first + i); });
  return episodes;
}

// Returns the mean negative log-probability of response tokens and adds its gradient. Calls progress after every
// micro-batch.
double cross_entropy(Replica& replica, const std::vector<Episode>& demonstrations,
                     const std::function<void()>& progress) {
  std::vector<Sequence> sequences;
  double targets = 0;
  for (const Episode& episode : demonstrations)
    std::ranges::move(make_sequences(episode), std::back_inserter(sequences));
  for (const Sequence& sequence : sequences) targets += static_cast<double>(sequence.targets.size());
  PolicyLossSums sums;
  for (const MicroBatch& micro : split_into_micro_batches(sequences, replica.micro_batch_tokens)) {
    const PackedBatch batch = pack(std::span(sequences).subspan(micro.first, micro.count));
    std::vector<float> logprobs(batch.targets.size()), entropies(logprobs.size());
    BatchLoss loss{Objective::likelihood, {}, {}, std::vector<SequenceLoss>(micro.count)};
    for (SequenceLoss& sequence : loss.sequences) sequence.weight = 1 / targets;
    replica.policy_pass->forward_backward(batch, 1, loss, logprobs, entropies, sums);
    progress();
  }
  return sums.loss;
}

}  // namespace

Episode play_demonstration(const RunConfig& config, const Playground& playground, std::uint64_t index) {
  DemonstrationDraws draws(config.seed, index);
  const int e = draw_environment(config, draws);
  EpisodePlayer player(playground.rules[e], playground.prototypes[e]->clone(), demonstration_episode(config, e, index));
  while (!player.finished()) {
    const Demonstration demonstration =
        demonstrate(player.environment(), config.warm_start, config.environments[e].max_actions_per_turn, draws);
    auto ids = playground.tokenizer.encode(response_text(demonstration, config.rollout.think));
    ids.push_back(playground.chat.turn_end());
    for (const auto id : ids) {
      const bool turn_ended = !player.accept(id, 0, 0).empty() || player.finished();
      if (turn_ended) break;  // the turn end, or the token limit before it
    }
  }
  return player.take();
}

UpdateResult warm_start_iteration(const RunConfig& run_config, const Playground& playground, Replica& replica,
                                  ThreadPool& threads, int iteration,
                                  const std::function<void(int done, int total)>& progress) {
  const WarmStartConfig& config = run_config.warm_start;
  Trainable& trained = replica.policy->trained();
  std::vector<double> losses, norms;
  double rate = 0;
  for (int step = 0; step < config.steps_per_iteration; ++step) {
    const std::uint64_t first =
        (static_cast<std::uint64_t>(iteration - 1) * config.steps_per_iteration + step) * config.batch;
    const auto demonstrations = demonstration_batch(run_config, playground, threads, first);
    trained.clear_gradients();
    const double loss = cross_entropy(replica, demonstrations, [&] { progress(step, config.steps_per_iteration); });
    if (!std::isfinite(loss))
      throw Error("non_finite_loss", "the warm-start loss is not finite",
                  "fork the run from its last checkpoint with a lower optimizer.learning_rate");
    rate = learning_rate(run_config, iteration, trained.steps());
    norms.push_back(optimizer_step(run_config, trained, iteration));
    losses.push_back(loss);
  }
  Metrics metrics{{std::string(metric::kWarmStartLoss), mean(losses)},
                  {std::string(metric::kActorGradNorm), mean(norms)},
                  {std::string(metric::kActorGradNormMax), *std::max_element(norms.begin(), norms.end())},
                  {std::string(metric::kActorLearningRate), rate}};
  return {metrics, {{std::string(metric::kActorGradNorm), norms}}};
}

}  // namespace starpo
