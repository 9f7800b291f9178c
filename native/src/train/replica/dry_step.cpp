#include "train/replica/dry_step.h"

#include <algorithm>
#include <vector>

#include "rollout/rollout.h"

namespace starpo {
namespace {

std::vector<std::int32_t> dummy_tokens(int count, int vocab) {
  std::vector<std::int32_t> tokens(count);
  for (int i = 0; i < count; ++i) tokens[i] = i % vocab;
  return tokens;
}

// Returns sequences of the context's length in which every token but the first is a target.
PackedBatch largest_batch(const EngineNeeds& needs) {
  PackedBatch batch{dummy_tokens(needs.pass_tokens, needs.model.vocab_size), {0}, {}};
  for (int start = 0; start < needs.pass_tokens; start = batch.sequence_starts.back()) {
    const int end = std::min(start + needs.context, needs.pass_tokens);
    for (int token = start + 1; token < end; ++token) batch.targets.push_back(token);
    batch.sequence_starts.push_back(end);
  }
  return batch;
}

class DryStep {
 public:
  DryStep(const RunConfig& config, Replica& replica, std::span<const std::int32_t> stop_ids)
      : config_(config),
        replica_(replica),
        stop_ids_(stop_ids),
        batch_(largest_batch(replica.needs)),
        temperature_(static_cast<float>(config.rollout.temperature)),
        zeros_(batch_.targets.size()),
        zero_advantages_(batch_.targets.size()),
        logprobs_(batch_.targets.size()),
        entropies_(batch_.targets.size()),
        values_(batch_.targets.size()) {}

  void forward_backward() {
    replica_.policy->trained().clear_gradients();
    PolicyLossSums sums;
    replica_.policy_pass->forward_backward(batch_, temperature_, loss(), logprobs_, entropies_, sums);
    if (replica_.critic) {
      replica_.critic->trained().clear_gradients();
      replica_.critic->forward(batch_, *replica_.policy_pass, values_);
      replica_.critic->backward(zeros_);
      replica_.critic->trained().clear_gradients();
    }
    replica_.policy->trained().clear_gradients();
  }

  void read_copies() {
    for (NetworkPass* pass : {replica_.reference_pass.get(), replica_.start_pass.get()})
      if (pass != nullptr) pass->forward(batch_, temperature_, logprobs_, entropies_);
  }

  // Generates with every slot at the end of its context if prompts are shared; otherwise only the first slot, since the
  // others would be prefilled one by one. Repeats with fewer slots, since a device may cache data per batch size.
  void generate() {
    const EngineNeeds& needs = replica_.needs;
    Generator& generator = *replica_.generator;
    const auto prompt = dummy_tokens(std::max(1, needs.context - 1), needs.model.vocab_size);
    const int group = needs.groups > 0 ? 0 : -1;
    constexpr int size_step = 8;
    for (int busy = needs.slots; busy > 0; busy -= size_step) {
      generator.reset();
      std::vector<ResponseRequest> requests;
      for (int slot = 0; slot < busy; ++slot) {
        const bool whole = busy == needs.slots && (slot == 0 || group >= 0);
        generator.begin(slot, std::span(prompt).first(whole ? prompt.size() : 1), group,
                        static_cast<std::uint32_t>(slot));
        requests.push_back({slot, 1});
      }
      std::vector<std::vector<Choice>> choices;
      generator.generate(requests, draws(), choices);
    }
    generator.reset();
  }

 private:
  DrawSettings draws() const {
    return {{config_.seed, RandomStream::train_sampling}, 0, training_sampling(config_.rollout), stop_ids_};
  }

  BatchLoss loss() const {
    BatchLoss loss{
        config_.task == Task::reinforce ? Objective::policy : Objective::likelihood, config_.policy_loss, {}, {}};
    if (config_.kl.placement == KlPlacement::loss) loss.kl = config_.kl;
    for (std::size_t i = 0, first = 0; i + 1 < batch_.sequence_starts.size(); ++i) {
      const auto count = static_cast<std::size_t>(batch_.sequence_starts[i + 1] - batch_.sequence_starts[i] - 1);
      const auto part = std::span(zeros_).subspan(first, count);
      loss.sequences.push_back({part, std::span(zero_advantages_).subspan(first, count), part, 0});
      first += count;
    }
    return loss;
  }

  const RunConfig& config_;
  Replica& replica_;
  std::span<const std::int32_t> stop_ids_;
  PackedBatch batch_;
  float temperature_;
  std::vector<float> zeros_;
  std::vector<double> zero_advantages_;
  std::vector<float> logprobs_, entropies_, values_;
};

}  // namespace

void dry_step(const RunConfig& config, Replica& replica, std::span<const std::int32_t> stop_ids,
              const std::function<void(int done, int total)>& progress) {
  const int total = 3;
  progress(0, total);
  DryStep step(config, replica, stop_ids);
  step.forward_backward();
  progress(1, total);
  step.read_copies();
  progress(2, total);
  step.generate();
  progress(total, total);
}

}  // namespace starpo
