#include "train/first_step/first_step_probe.h"

#include <algorithm>
#include <cmath>

#include "algorithm/objectives.h"
#include "train/metrics/average.h"
#include "train/update/estimate_advantages.h"

namespace starpo {
namespace {

constexpr std::size_t kEpisodes = 64;
constexpr std::size_t kPieces = 256, kPieceSize = 4096;  // sampled weights

double token_share(std::span<const Sequence> sequences) {
  double trained = 0, all = 0;
  for (const Sequence& sequence : sequences) {
    trained += static_cast<double>(sequence.targets.size());
    all += sequence.tokens();
  }
  return trained / all;
}

}  // namespace

FirstStepProbe::FirstStepProbe(const RunConfig& config, Replica& replica, std::span<const Sequence> kept,
                               const std::function<void()>& progress)
    : config_(config), replica_(replica), progress_(progress) {
  if (kept.empty()) return;
  trained_tokens_ = token_share(kept);
  samples_ = sequences_of_some_episodes(kept, kEpisodes);
  weights_ = sample_weights();
  logprobs_ = sample_logprobs();
}

FirstStepMeasurements FirstStepProbe::measure() {
  if (samples_.empty()) return {};
  FirstStepMeasurements measured{trained_tokens_, 0, 0};
  double change = 0, size = 0;
  const auto weights = sample_weights();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double before = weights_[i], difference = weights[i] - before;
    change += difference * difference;
    size += before * before;
  }
  measured.update_ratio = std::sqrt(change / size);

  const auto logprobs = sample_logprobs();
  std::vector<double> divergences;  // [episodes]
  std::size_t i = 0;                // sample
  for (const auto episode : sequences_by_episode(std::span<const Sequence>(samples_))) {
    Average divergence;
    for (const std::size_t end = i + episode.size(); i < end; ++i)
      for (std::size_t t = 0; t < logprobs[i].size(); ++t)
        divergence.add(kl_estimate(KlEstimator::k3, logprobs_[i][t], logprobs[i][t]).value);
    divergences.push_back(divergence.sum / static_cast<double>(divergence.count));
  }
  const auto median = divergences.begin() + static_cast<std::ptrdiff_t>(divergences.size() / 2);
  std::ranges::nth_element(divergences, median);
  measured.kl = *median;
  return measured;
}

// Reads pieces at equal distances.
std::vector<float> FirstStepProbe::sample_weights() const {
  const Trainable& trained = replica_.policy->trained();
  const std::size_t pieces = (trained.size() + kPieceSize - 1) / kPieceSize, count = std::min(pieces, kPieces);
  std::vector<float> sample;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = i * pieces / count * kPieceSize, held = sample.size();
    sample.resize(held + std::min(kPieceSize, trained.size() - first));
    trained.read(StateVector::weights, first, std::span(sample).subspan(held));
  }
  return sample;
}

std::vector<std::vector<float>> FirstStepProbe::sample_logprobs() {
  compute_logprobs(*replica_.policy_pass, &Sequence::old_logprobs, replica_.micro_batch_tokens,
                   static_cast<float>(config_.rollout.temperature), samples_, progress_);
  std::vector<std::vector<float>> logprobs;
  for (const Sequence& sample : samples_) logprobs.push_back(sample.old_logprobs);
  return logprobs;
}

}  // namespace starpo
