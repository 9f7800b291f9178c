#include "engine/cuda/selftest/engine_case.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace starpo::cuda {
namespace {

constexpr int kVocabulary = 88;
constexpr std::array<std::int32_t, 2> kCaseStopIds{7, 20};
// Some responses take several calls of the generator.
constexpr std::array kFirstTurnLimits{11, 3, 17, 9}, kSecondTurnLimits{9, 10, 3, 2};

// Weights so large that attention and gates are far from linear. Biases and norms vary too.
std::vector<float> case_weights(const ParameterLayout& layout) {
  std::vector<float> weights(layout.size());
  for (const TensorSlot& tensor : layout.tensors()) {
    const float middle = tensor.name.find("norm") != std::string::npos ? 1.0f : 0.0f;
    for (std::size_t i = tensor.offset; i < tensor.offset + tensor.size; ++i)
      weights[i] = middle + 0.4f * case_value(1, i);
  }
  return weights;
}

std::vector<std::int32_t> prompt() { return case_batch(std::array{33}).tokens; }

bool ends_response(const Choice& choice) { return std::ranges::find(kCaseStopIds, choice.id) != kCaseStopIds.end(); }

void play_turn(Generator& generator, const DrawSettings& draws, std::array<int, 4> remaining,
               std::vector<std::vector<Choice>>& responses) {
  std::vector<std::vector<Choice>> choices;
  for (std::vector<ResponseRequest> requests;; requests.clear()) {
    for (int slot = 0; slot < 4; ++slot)
      if (remaining[slot] > 0) requests.push_back({slot, remaining[slot]});
    if (requests.empty()) return;
    generator.generate(requests, draws, choices);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const int slot = requests[i].slot;
      if (choices[i].empty()) throw std::logic_error("the generator returned no tokens");
      responses[slot].insert(responses[slot].end(), choices[i].begin(), choices[i].end());
      remaining[slot] =
          ends_response(responses[slot].back()) ? 0 : remaining[slot] - static_cast<int>(choices[i].size());
    }
  }
}

}  // namespace

float case_value(std::uint32_t purpose, std::size_t index) {
  return 2 * uniform_open(
                 Philox{5, RandomStream::environment_noise}(purpose, static_cast<std::uint32_t>(index), 0, 0)[0]) -
         1;
}

EngineNeeds EngineCase::needs() {
  EngineNeeds needs;
  needs.model = {kVocabulary, 72, 104, 2, 6, 2, 16, 512, 1000, 1e-6f, true};
  needs.trains_policy = true;
  needs.slots = 5;
  needs.groups = 2;
  needs.context = 96;
  needs.pass_tokens = 160;
  return needs;
}

EngineCase::EngineCase(const EngineSettings& settings, const EngineNeeds& needs, ModelHead head)
    : engine_(make_engine(settings, threads_)) {
  engine_->reserve(needs);
  network_ = engine_->make_network(needs.model, head, NetworkUse::trained);
  network_->write_weights(0, case_weights(network_->layout()));
}

std::vector<float> EngineCase::state(StateVector which) const { return read_state(network_->trained(), which); }

PackedBatch case_batch(std::span<const int> lengths) {
  PackedBatch batch{{}, {0}, {}};
  for (const int length : lengths) {
    for (int i = 0; i < length; ++i) {
      const auto index = static_cast<std::int32_t>(batch.tokens.size());
      if (i > 0 && index % 3 != 0) batch.targets.push_back(index);
      batch.tokens.push_back(static_cast<std::int32_t>((case_value(2, index) + 1) / 2 * kVocabulary));
    }
    batch.sequence_starts.push_back(static_cast<std::int32_t>(batch.tokens.size()));
  }
  return batch;
}

TrainingStep training_step(Network& network) {
  TrainingStep result;
  const auto pass = network.make_pass();
  network.trained().clear_gradients();
  for (const std::vector<int>& lengths : {std::vector{70, 3, 6}, {14}}) {
    const PackedBatch batch = case_batch(lengths);
    const std::size_t targets = batch.targets.size();
    std::vector<float> logprobs(targets), entropies(targets), rollout(targets), reference(targets);
    std::vector<double> advantages(targets);
    pass->forward(batch, 0.7f, logprobs, entropies);
    for (std::size_t i = 0; i < targets; ++i) {
      rollout[i] = logprobs[i] + 0.4f * case_value(7, i);
      reference[i] = logprobs[i] + 0.2f * case_value(8, i);
      advantages[i] = case_value(9, i);
    }
    BatchLoss loss{Objective::policy,
                   {0.2, 0.28, 3, 0.01, LossAverage::trajectory, 4, 1},
                   {0.1, KlEstimator::k3, KlPlacement::loss, ""},
                   {}};
    std::size_t first = 0;
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      const auto inside = [&](std::int32_t target) {
        return target >= batch.sequence_starts[s] && target < batch.sequence_starts[s + 1];
      };
      const auto count = static_cast<std::size_t>(std::ranges::count_if(batch.targets, inside));
      loss.sequences.push_back({std::span(rollout).subspan(first, count), std::span(advantages).subspan(first, count),
                                std::span(reference).subspan(first, count), 0.1 * static_cast<double>(s + 1)});
      first += count;
    }
    if (lengths.size() > 1) {
      pass->forward_backward(batch, 0.7f, loss, logprobs, entropies, result.sums);
    } else {
      // The same loss, with gradients that the host computes between the passes.
      std::vector<float> from_logprob(targets), from_entropy(targets);
      pass->forward(batch, 0.7f, logprobs, entropies);
      loss_gradients(batch, loss, logprobs, entropies, result.sums, from_logprob, from_entropy);
      pass->backward(from_logprob, from_entropy);
    }
    result.logprobs.insert(result.logprobs.end(), logprobs.begin(), logprobs.end());
    result.entropies.insert(result.entropies.end(), entropies.begin(), entropies.end());
  }
  result.step = take_step(network.trained(), {1e-3f, 0.9f, 0.999f, 1e-8f, 0.01f, 1.0f});
  return result;
}

std::vector<std::vector<Choice>> play_turns(Network& network, bool grouped) {
  const auto generator = network.make_generator(5, 96);
  generator->reset();
  for (std::uint32_t slot = 0; slot < 3; ++slot)
    generator->begin(static_cast<int>(slot), prompt(), grouped ? 4 : -1, 10 + slot);
  generator->begin(3, case_batch(std::array{9}).tokens, -1, 20);
  const DrawSettings draws{{3, RandomStream::train_sampling}, 5, {kCaseTemperature, 1, 0, 0}, kCaseStopIds};
  std::vector<std::vector<Choice>> responses(4);
  play_turn(*generator, draws, kFirstTurnLimits, responses);
  for (int slot = 0; slot < 4; ++slot) generator->append(slot, std::array{1, 2, 3});
  play_turn(*generator, draws, kSecondTurnLimits, responses);
  return responses;
}

FirstTurns first_turns(std::span<const std::vector<Choice>> responses) {
  FirstTurns turns;
  PackedBatch& batch = turns.batch;
  for (int slot = 0; slot < 3; ++slot) {
    const auto ids = prompt();
    batch.tokens.insert(batch.tokens.end(), ids.begin(), ids.end());
    for (int i = 0; i < kFirstTurnLimits[slot]; ++i) {
      const Choice& choice = responses[slot][i];
      batch.targets.push_back(static_cast<std::int32_t>(batch.tokens.size()));
      batch.tokens.push_back(choice.id);
      turns.chosen.push_back(choice.logprob);
      if (ends_response(choice)) break;
    }
    batch.sequence_starts.push_back(static_cast<std::int32_t>(batch.tokens.size()));
  }
  return turns;
}

}  // namespace starpo::cuda
