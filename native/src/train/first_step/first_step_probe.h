#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "config/run_config.h"
#include "train/replica/replica.h"
#include "train/update/sequence.h"

namespace starpo {

// Effects of an update on the policy. A value is absent if nothing was trained.
struct FirstStepMeasurements {
  std::optional<double> trained_tokens;  // share of the tokens that the update reads
  // KL(before || after) per trained token (k3). The median over some episodes, because a single broken response
  // would dominate a mean.
  std::optional<double> kl;
  std::optional<double> update_ratio;  // norm of the change of the weights / norm of the weights, on a sample
};

// Measures an update: create it before the update and call measure() after. Keeps some of the weights and of the
// episodes, so that its cost does not grow with the model or the rollout.
class FirstStepProbe {
 public:
  // kept: the sequences of the update. The arguments must outlive this object. progress is called after each pass.
  FirstStepProbe(const RunConfig&, Replica&, std::span<const Sequence> kept, const std::function<void()>& progress);

  FirstStepMeasurements measure();

 private:
  std::vector<float> sample_weights() const;
  std::vector<std::vector<float>> sample_logprobs();

  const RunConfig& config_;
  Replica& replica_;
  std::function<void()> progress_;
  std::optional<double> trained_tokens_;
  std::vector<Sequence> samples_;  // of some episodes
  std::vector<float> weights_;
  std::vector<std::vector<float>> logprobs_;  // [samples][targets]
};

}  // namespace starpo
