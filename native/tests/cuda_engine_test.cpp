#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "cuda/emulated/memory.h"
#include "cuda/emulated/order.h"
#include "cuda/selftest/check.h"
#include "engine/engine.h"
#include "error_code.h"
#include "model_fixtures.h"

using namespace starpo;

namespace {

// Every width with a tail for some tile, and more query heads than key-value heads.
ModelConfig small_model() {
  ModelConfig model = small_config({6, 2, 16, true});
  model.vocab_size = 88;
  model.hidden_size = 72;
  model.intermediate_size = 104;
  return model;
}

EngineNeeds small_needs() {
  EngineNeeds needs{.model = small_model()};
  needs.trains_policy = true;
  needs.slots = 5;
  needs.groups = 2;
  needs.context = 96;
  needs.pass_tokens = 128;
  return needs;
}

struct Machine {
  ThreadPool threads{1};
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Network> network;

  Machine(const EngineSettings& settings, const EngineNeeds& needs, ModelHead head = ModelHead::language) : engine(make_engine(settings, threads)) {
    engine->reserve(needs);
    network = engine->make_network(needs.model, head, NetworkUse::trained);
    network->parameters().write(StateVector::weights, lively_weights(network->layout()));
  }
};

struct Learned {
  std::vector<float> logprobs, entropies, first_moment, weights;
  PolicyLossSums sums;
  OptimizerStep step{};
};

// Two micro-batches and one optimiser step with everything that a loss can have.
Learned learn(Network& network) {
  const ModelConfig model = network.layout().config();
  Learned learned;
  const auto pass = network.make_pass();
  network.parameters().clear_gradients();
  for (const std::vector<int>& lengths : {std::vector{70, 3, 21}, {40}}) {
    const PackedBatch batch = random_batch(model, lengths);
    const std::size_t targets = batch.targets.size();
    std::vector<float> logprobs(targets), entropies(targets), rollout(targets), reference(targets);
    std::vector<double> advantages(targets);
    pass->forward(batch, 0.7f, logprobs, entropies);
    for (std::size_t i = 0; i < targets; ++i) {
      rollout[i] = logprobs[i] + 0.4f * random_value(7, static_cast<std::uint32_t>(i));
      reference[i] = logprobs[i] + 0.2f * random_value(8, static_cast<std::uint32_t>(i));
      advantages[i] = random_value(9, static_cast<std::uint32_t>(i));
    }
    BatchLoss loss{Objective::policy, {0.2, 0.28, 3, 0.01, LossAverage::trajectory, 4, 1}, {0.1, KlEstimator::k3, KlPlacement::loss, ""}, {}};
    std::size_t first = 0;
    for (std::size_t s = 0; s + 1 < batch.sequence_starts.size(); ++s) {
      const auto count = static_cast<std::size_t>(std::ranges::count_if(batch.targets, [&](int target) { return target >= batch.sequence_starts[s] && target < batch.sequence_starts[s + 1]; }));
      loss.sequences.push_back({std::span(rollout).subspan(first, count), std::span(advantages).subspan(first, count), std::span(reference).subspan(first, count), 0.1 * static_cast<double>(s + 1)});
      first += count;
    }
    pass->learn(batch, 0.7f, loss, logprobs, entropies, learned.sums);
    learned.logprobs.insert(learned.logprobs.end(), logprobs.begin(), logprobs.end());
    learned.entropies.insert(learned.entropies.end(), entropies.begin(), entropies.end());
  }
  learned.step = network.parameters().step({1e-3f, 0.9f, 0.999f, 1e-8f, 0.01f, 1.0f});
  learned.first_moment.resize(network.layout().size());
  learned.weights.resize(network.layout().size());
  network.parameters().read(StateVector::first_moment, learned.first_moment);
  network.parameters().read(StateVector::weights, learned.weights);
  return learned;
}

double error_of(const std::vector<float>& values, const std::vector<float>& reference) { return cuda::normalised_mean_square_error(values, reference); }

// Replies of three slots of one group, one alone, over two turns.
std::vector<std::vector<Choice>> converse(Network& network, bool grouped) {
  const auto generator = network.make_generator(5, 96);
  generator->reset();
  const auto prompt = random_batch(network.layout().config(), {33}).tokens;
  const auto other = random_batch(network.layout().config(), {9}).tokens;
  for (int slot = 0; slot < 3; ++slot) generator->begin(slot, prompt, grouped ? 4 : -1, 10 + slot);
  generator->begin(3, other, -1, 20);
  const std::vector<std::int32_t> stop_ids{7, 20};
  const DrawSettings draws{{3, RandomStream::train_sampling}, 5, {0.9f, 1, 0, 0}, stop_ids};
  std::vector<std::vector<Choice>> replies(4), choices;
  for (int turn = 0; turn < 2; ++turn) {
    std::vector<int> left{11, 3, 20, 9};
    while (true) {
      std::vector<ReplyRequest> requests;
      for (int slot = 0; slot < 4; ++slot)
        if (left[slot] > 0) requests.push_back({slot, left[slot]});
      if (requests.empty()) break;
      generator->generate(requests, draws, choices);
      for (std::size_t i = 0; i < requests.size(); ++i) {
        auto& reply = replies[requests[i].slot];
        REQUIRE_FALSE(choices[i].empty());
        reply.insert(reply.end(), choices[i].begin(), choices[i].end());
        left[requests[i].slot] -= static_cast<int>(choices[i].size());
        if (std::ranges::find(stop_ids, reply.back().id) != stop_ids.end()) left[requests[i].slot] = 0;
      }
    }
    if (turn == 0)
      for (int slot = 0; slot < 4; ++slot) generator->append(slot, std::vector<std::int32_t>{1, 2, 3});
  }
  return replies;
}

}  // namespace

TEST_CASE("a whole step of learning on the emulated GPU is the processor's") {
  Machine cpu({"cpu"}, small_needs());
  const Learned expected = learn(*cpu.network);
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    const double tolerance = precision == Precision::fp32 ? cuda::fp32_tolerance : 2e-3;
    for (const Recompute recompute : {Recompute::none, Recompute::elementwise, Recompute::block}) {
      CAPTURE(static_cast<int>(recompute));
      EngineNeeds needs = small_needs();
      needs.recompute = recompute;
      Machine gpu({"cuda:0", precision}, needs);
      const Learned learned = learn(*gpu.network);
      CHECK(error_of(learned.logprobs, expected.logprobs) < tolerance);
      CHECK(error_of(learned.entropies, expected.entropies) < tolerance);
      CHECK(error_of(learned.first_moment, expected.first_moment) < 5 * tolerance);
      if (precision == Precision::bf16) continue;
      CHECK(learned.sums.loss == doctest::Approx(expected.sums.loss).epsilon(1e-4));
      CHECK(learned.step.gradient_norm == doctest::Approx(expected.step.gradient_norm).epsilon(1e-4));
      CHECK(learned.step.finite_weights);
      CHECK(error_of(learned.weights, expected.weights) < cuda::fp32_tolerance);
    }
  }
}

TEST_CASE("recomputing and the order of threads change no bit of a step") {
  Learned first;
  for (int order = 0; order < 6; ++order) {
    cuda::emulated::set_order(order);
    EngineNeeds needs = small_needs();
    needs.recompute = static_cast<Recompute>(order % 3);
    Machine gpu({"cuda:0", Precision::bf16}, needs);
    const Learned learned = learn(*gpu.network);
    if (order == 0) first = learned;
    CHECK(same_bits(learned.weights, first.weights));
    CHECK(same_bits(learned.logprobs, first.logprobs));
  }
  cuda::emulated::set_order(0);
}

TEST_CASE("a critic on the emulated GPU learns as on the processor") {
  EngineNeeds needs = small_needs();
  needs.trains_critic = true;
  const PackedBatch batch = random_batch(needs.model, {50, 30});
  const std::vector<float> slopes = random_values(4, batch.targets.size());
  const auto train = [&](const EngineSettings& settings) {
    Machine machine(settings, needs, ModelHead::value);
    const auto pass = machine.network->make_pass();
    std::vector<float> values(batch.targets.size()), moment(machine.network->layout().size());
    machine.network->parameters().clear_gradients();
    pass->forward_values(batch, values);
    pass->backward_values(slopes);
    machine.network->parameters().step({1e-3f, 0.9f, 0.999f, 1e-8f, 0.01f, 0.0f});
    machine.network->parameters().read(StateVector::first_moment, moment);
    return std::pair{values, moment};
  };
  const auto [values, moment] = train({"cpu"});
  const auto [gpu_values, gpu_moment] = train({"cuda:0"});
  CHECK(error_of(gpu_values, values) < cuda::fp32_tolerance);
  CHECK(error_of(gpu_moment, moment) < cuda::fp32_tolerance);
}

TEST_CASE("in exact mode a reply's log-probabilities have the bits that learning finds, shared prompt or not") {
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    Machine gpu({"cuda:0", precision}, small_needs());
    const auto shared = converse(*gpu.network, true), alone = converse(*gpu.network, false);
    const auto prompt = random_batch(small_model(), {33}).tokens;
    for (int slot = 0; slot < 4; ++slot) {
      REQUIRE(shared[slot].size() == alone[slot].size());
      for (std::size_t i = 0; i < shared[slot].size(); ++i) {
        CHECK(shared[slot][i].id == alone[slot][i].id);
        CHECK(shared[slot][i].logprob == alone[slot][i].logprob);
      }
    }
    // The first turn of each grouped slot, as an update reads it.
    PackedBatch batch{{}, {0}, {}};
    std::vector<float> chosen;
    for (int slot = 0; slot < 3; ++slot) {
      batch.tokens.insert(batch.tokens.end(), prompt.begin(), prompt.end());
      for (std::size_t i = 0; i < 3; ++i) {
        if (i < shared[slot].size()) {
          batch.targets.push_back(static_cast<std::int32_t>(batch.tokens.size()));
          batch.tokens.push_back(shared[slot][i].id);
          chosen.push_back(shared[slot][i].logprob);
        }
        if (shared[slot][i].id == 7 || shared[slot][i].id == 20) break;
      }
      batch.sequence_starts.push_back(static_cast<std::int32_t>(batch.tokens.size()));
    }
    std::vector<float> logprobs(chosen.size()), entropies(chosen.size());
    gpu.network->make_pass()->forward(batch, 0.9f, logprobs, entropies);
    CHECK(same_bits(logprobs, chosen));
  }
}

TEST_CASE("what doesn't fit a GPU is refused before the run, with a setting that would fit") {
  EngineNeeds needs = small_needs();
  needs.pass_tokens = 4096;
  ThreadPool threads(1);
  const auto planned = make_engine({"cuda:0"}, threads)->reserve(small_needs());
  REQUIRE(planned);
  cuda::emulated::set_device_memory(static_cast<std::size_t>(planned->total_bytes()) * 5 / 4);
  std::string hint;
  try {
    make_engine({"cuda:0"}, threads)->reserve(needs);
  } catch (const Error& error) {
    CHECK(error.code() == "gpu_out_of_memory");
    hint = error.hint();
  }
  CHECK(hint.find("optimizer.micro_batch_tokens to ") != std::string::npos);
  cuda::emulated::set_device_memory(16384);
  CHECK(error_code_of([&] { make_engine({"cuda:0"}, threads)->reserve(needs); }) == "gpu_out_of_memory");
  cuda::emulated::set_device_memory(cuda::emulated::default_device_memory);

  needs.model.hidden_size = 20;
  CHECK(error_code_of([&] { make_engine({"cuda:0"}, threads)->reserve(needs); }) == "model_unsupported");
}
