#pragma once

#include <functional>

#include "engine/engine.h"

namespace starpo::cuda {

// A network small enough for the emulation, with a tail in every width and more query heads than key-value heads, on an
// engine of its own.
class EngineCase {
 public:
  static EngineNeeds needs(Recompute = Recompute::none);

  EngineCase(const EngineSettings&, const EngineNeeds&, ModelHead = ModelHead::language);

  Network& network() { return *network_; }
  std::vector<float> state(StateVector) const;

 private:
  ThreadPool threads_{1};
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Network> network_;
};

// Sequences of these lengths with tokens of the case's vocabulary, reproducible; every token but each third is a
// target.
PackedBatch case_batch(std::span<const int> lengths);

// In [-1, 1), a function of what it is for and an index.
float case_value(std::uint32_t what, std::size_t index);

// What a step of learning finds: everything that the policy's loss can have, in two micro-batches.
struct LearnedStep {
  std::vector<float> logprobs, entropies;
  PolicyLossSums sums;
  OptimizerStep step{};
};
LearnedStep learn_step(Network&);

// Two turns of three slots that share a prompt (where `grouped`) and of one alone; each slot's choices.
std::vector<std::vector<Choice>> converse(Network&, bool grouped);

// The conversation's first turns in one batch, as an update reads them, and their log-probabilities when they were
// chosen.
struct FirstTurns {
  PackedBatch batch{{}, {0}, {}};
  std::vector<float> chosen;
};
FirstTurns first_turns(std::span<const std::vector<Choice>> replies);
inline constexpr float kCaseTemperature = 0.9f;

}  // namespace starpo::cuda
