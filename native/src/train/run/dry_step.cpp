#include "train/run/dry_step.h"

#include <algorithm>
#include <vector>

#include "train/run/engine_needs.h"

namespace starpo {
namespace {

std::vector<std::int32_t> any_tokens(int count, int vocab) {
  std::vector<std::int32_t> tokens(count);
  for (int i = 0; i < count; ++i) tokens[i] = i % vocab;
  return tokens;
}

// Sequences of the context's length, and of all their tokens but the first a target.
PackedBatch largest_batch(const EngineNeeds& needs) {
  PackedBatch batch{any_tokens(needs.pass_tokens, needs.model.vocab_size), {0}, {}};
  for (int start = 0; start < needs.pass_tokens; start = batch.sequence_starts.back()) {
    const int end = std::min(start + needs.context, needs.pass_tokens);
    for (int token = start + 1; token < end; ++token) batch.targets.push_back(token);
    batch.sequence_starts.push_back(end);
  }
  return batch;
}

class DryStep {
 public:
  DryStep(TrainerState& state, const EngineNeeds& needs)
      : state_(state), needs_(needs), batch_(largest_batch(needs)), temperature_(static_cast<float>(state.config.rollout.temperature)), zeros_(batch_.targets.size()),
        zero_advantages_(batch_.targets.size()), logprobs_(batch_.targets.size()), entropies_(batch_.targets.size()), values_(batch_.targets.size()) {}

  void learn(NetworkPass& policy) {
    state_.policy->trained().clear_gradients();
    PolicyLossSums sums;
    policy.learn(batch_, temperature_, loss(), logprobs_, entropies_, sums);
    if (state_.critic) {
      state_.critic->trained().clear_gradients();
      state_.critic->forward(batch_, policy, values_);
      state_.critic->backward(zeros_);
      state_.critic->trained().clear_gradients();
    }
    state_.policy->trained().clear_gradients();
  }

  void read(NetworkPass& network) { network.forward(batch_, temperature_, logprobs_, entropies_); }

  // Every slot at the end of its context, where a prompt is shared; else only the first, since the others would be computed one by one. Then ever fewer
  // slots, since a device may keep something for each size of a step.
  void generate(Generator& generator) {
    const auto prompt = any_tokens(std::max(1, needs_.context - 1), needs_.model.vocab_size);
    const int group = needs_.groups > 0 ? 0 : -1;
    constexpr int closest_sizes = 8;
    for (int busy = needs_.slots; busy > 0; busy -= closest_sizes) {
      generator.reset();
      std::vector<ReplyRequest> requests;
      for (int slot = 0; slot < busy; ++slot) {
        const bool whole = busy == needs_.slots && (slot == 0 || group >= 0);
        generator.begin(slot, std::span(prompt).first(whole ? prompt.size() : 1), group, static_cast<std::uint32_t>(slot));
        requests.push_back({slot, 1});
      }
      std::vector<std::vector<Choice>> choices;
      generator.generate(requests, draws(), choices);
    }
    generator.reset();
  }

 private:
  DrawSettings draws() const {
    const RolloutConfig& rollout = state_.config.rollout;
    const SamplingSettings sampling{static_cast<float>(rollout.temperature), static_cast<float>(rollout.top_p), rollout.top_k, static_cast<float>(rollout.min_p)};
    return {{state_.config.seed, RandomStream::train_sampling}, 0, sampling, state_.chat.stop_ids()};
  }

  BatchLoss loss() const {
    const RunConfig& config = state_.config;
    BatchLoss loss{config.task == Task::reinforce ? Objective::policy : Objective::likelihood, config.policy_loss, {}, {}};
    if (config.kl.placement == KlPlacement::loss) loss.kl = config.kl;
    for (std::size_t i = 0, first = 0; i + 1 < batch_.sequence_starts.size(); ++i) {
      const auto count = static_cast<std::size_t>(batch_.sequence_starts[i + 1] - batch_.sequence_starts[i] - 1);
      const auto part = std::span(zeros_).subspan(first, count);
      loss.sequences.push_back({part, std::span(zero_advantages_).subspan(first, count), part, 0});
      first += count;
    }
    return loss;
  }

  TrainerState& state_;
  const EngineNeeds& needs_;
  PackedBatch batch_;
  float temperature_;
  std::vector<float> zeros_;
  std::vector<double> zero_advantages_;
  std::vector<float> logprobs_, entropies_, values_;
};

}  // namespace

void dry_step(TrainerState& state, NetworkPass& policy, NetworkPass* reference, NetworkPass* start, Generator& generator, const std::function<void(int done, int total)>& progress) {
  const EngineNeeds needs = engine_needs(state.config, state.policy->layout().config());
  const int total = 3;
  progress(0, total);
  DryStep step(state, needs);
  step.learn(policy);
  progress(1, total);
  for (NetworkPass* read : {reference, start})
    if (read != nullptr) step.read(*read);
  progress(2, total);
  step.generate(generator);
  progress(total, total);
}

}  // namespace starpo
