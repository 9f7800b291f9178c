#include "train/diagnostics/gradient_norms.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "algorithm/statistics.h"
#include "journal/metric_names.h"

namespace starpo {
namespace {

struct TrainedGroup {
  std::vector<std::span<const Sequence>> episodes;  // samples of each
  double reward_std = 0;
};

std::vector<TrainedGroup> groups_by_reward_std(std::span<const Sequence> sequences) {
  const auto episodes = sequences_by_episode(sequences);
  std::vector<TrainedGroup> groups;
  for (std::size_t start = 0, end; start < episodes.size(); start = end) {
    const auto episode = [&](std::size_t i) -> const Episode& { return *episodes[i].front().episode; };
    TrainedGroup& group = groups.emplace_back();
    std::vector<double> scores;
    for (end = start; end < episodes.size() && episode(end).spec.group == episode(start).spec.group; ++end) {
      group.episodes.push_back(episodes[end]);
      scores.push_back(episode(end).score);
    }
    group.reward_std = reward_std(scores);
  }
  std::ranges::stable_sort(groups, {}, &TrainedGroup::reward_std);
  return groups;
}

// Takes the sequences of `count` episodes, from the groups in turn.
std::vector<Sequence> sample(std::span<const TrainedGroup> groups, std::size_t count) {
  std::vector<Sequence> chosen;
  std::size_t largest = 0, episodes = 0;
  for (const TrainedGroup& group : groups) largest = std::max(largest, group.episodes.size());
  for (std::size_t i = 0; i < largest; ++i)
    for (const TrainedGroup& group : groups) {
      if (i >= group.episodes.size() || episodes == count) continue;
      chosen.insert(chosen.end(), group.episodes[i].begin(), group.episodes[i].end());
      ++episodes;
    }
  return chosen;
}

double gradient_norm(Network& policy, NetworkPass& pass, const std::vector<Sequence>& sequences,
                     const GradientNormSettings& settings, const std::function<void()>& progress) {
  std::vector<int> trained;
  for (const Sequence& sequence : sequences) trained.push_back(static_cast<int>(sequence.targets.size()));
  const auto weights = token_weights(trained, LossAverage::token, 0);
  BatchLoss loss{Objective::policy, settings.loss, {}, {}};
  loss.policy.entropy_coefficient = 0;
  policy.trained().clear_gradients();
  for (const MicroBatch& micro : split_into_micro_batches(sequences, settings.micro_batch_tokens)) {
    const auto own =
        std::span(sequences).subspan(static_cast<std::size_t>(micro.first), static_cast<std::size_t>(micro.count));
    const PackedBatch batch = pack(own);
    loss.sequences.clear();
    for (std::size_t i = 0; i < own.size(); ++i)
      loss.sequences.push_back(
          {own[i].rollout_logprobs, own[i].advantages, {}, weights[static_cast<std::size_t>(micro.first) + i]});
    std::vector<float> logprobs(batch.targets.size()), entropies(batch.targets.size());
    PolicyLossSums sums;
    pass.forward_backward(batch, settings.temperature, loss, logprobs, entropies, sums);
    progress();
  }
  const double norm = std::sqrt(policy.trained().squared_norm());
  policy.trained().clear_gradients();
  return norm;
}

}  // namespace

void add_gradient_norms_by_reward_std(Network& policy, NetworkPass& pass, std::span<const Sequence> sequences,
                                      const GradientNormSettings& settings, Metrics& metrics,
                                      const std::function<void()>& progress) {
  const auto groups = groups_by_reward_std(sequences);
  if (groups.size() < 3) return;
  constexpr std::array thirds{metric::kDiagnosticsGradNormLowStd, metric::kDiagnosticsGradNormMiddleStd,
                              metric::kDiagnosticsGradNormHighStd};
  for (std::size_t third = 0; third < thirds.size(); ++third) {
    const std::size_t first = third * groups.size() / thirds.size(), end = (third + 1) * groups.size() / thirds.size();
    const auto chosen =
        sample(std::span(groups).subspan(first, end - first), static_cast<std::size_t>(settings.episodes));
    metrics[std::string(thirds[third])] = gradient_norm(policy, pass, chosen, settings, progress);
  }
}

}  // namespace starpo
