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
  std::span<const Sequence> sequences;
  double reward_std;
};

std::vector<TrainedGroup> groups_by_reward_std(std::span<const Sequence> sequences) {
  std::vector<TrainedGroup> groups;
  for (std::size_t start = 0, end; start < sequences.size(); start = end) {
    std::vector<double> scores;
    for (end = start;
         end < sequences.size() && sequences[end].episode->spec.group == sequences[start].episode->spec.group; ++end)
      scores.push_back(sequences[end].episode->score);
    groups.push_back({sequences.subspan(start, end - start), reward_std(scores)});
  }
  std::ranges::stable_sort(groups, {}, &TrainedGroup::reward_std);
  return groups;
}

// Takes sequences from the groups in turn, up to `count`.
std::vector<Sequence> sample(std::span<const TrainedGroup> groups, std::size_t count) {
  std::vector<Sequence> chosen;
  std::size_t largest = 0;
  for (const TrainedGroup& group : groups) largest = std::max(largest, group.sequences.size());
  for (std::size_t i = 0; i < largest; ++i)
    for (const TrainedGroup& group : groups)
      if (i < group.sequences.size() && chosen.size() < count) chosen.push_back(group.sequences[i]);
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
