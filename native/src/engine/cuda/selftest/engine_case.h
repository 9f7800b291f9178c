#pragma once

#include "engine/engine.h"

namespace starpo::cuda {

// An engine with a network that is small enough for the emulation. No width is a multiple of a tile, and there are more
// query heads than key-value heads.
class EngineCase {
 public:
  static EngineNeeds needs();

  EngineCase(const EngineSettings&, const EngineNeeds&, ModelHead = ModelHead::language);

  Engine& engine() { return *engine_; }
  Network& network() { return *network_; }
  std::vector<float> state(StateVector) const;

 private:
  ThreadPool threads_{1};
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Network> network_;
};

// Returns reproducible sequences of these lengths. Two of three tokens are targets.
PackedBatch case_batch(std::span<const int> lengths);

// Returns a number in [-1, 1) that depends on its purpose and an index.
float case_value(std::uint32_t purpose, std::size_t index);

// The results of a training step on two micro-batches, whose loss has all terms of the policy loss.
struct TrainingStep {
  std::vector<float> logprobs, entropies;
  PolicyLossSums sums;
  OptimizerStep step{};
};
TrainingStep training_step(Network&);

// Plays two turns in three slots that share a prompt (if `grouped`) and in one with its own prompt. Returns the choices
// of each slot.
std::vector<std::vector<Choice>> play_turns(Network&, bool grouped);

// The first turns of an episode in a batch for an update, and the log-probabilities of the generator.
struct FirstTurns {
  PackedBatch batch{{}, {0}, {}};
  std::vector<float> chosen;
};
FirstTurns first_turns(std::span<const std::vector<Choice>> responses);
inline constexpr float kCaseTemperature = 0.9f;

}  // namespace starpo::cuda
