#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>

#include "base/error.h"
#include "engine/cuda/emulated/device.h"
#include "engine/engine.h"
#include "model_fixtures.h"

using namespace starpo;

namespace {

// A network on a GPU, and a valid batch.
struct GpuInput {
  ThreadPool threads{1};
  EngineNeeds needs;
  std::unique_ptr<Engine> engine = make_engine({"cuda:0"}, threads);
  std::unique_ptr<Network> network;
  PackedBatch batch;
  std::vector<float> logprobs, entropies, numbers;
  std::vector<double> advantages;

  explicit GpuInput(ModelHead head = ModelHead::language) {
    needs.model = small_config({2, 1, 16, true});
    needs.model.hidden_size = needs.model.intermediate_size = 32;
    needs.trains_policy = true;
    needs.slots = 3;
    needs.groups = 2;
    needs.context = needs.pass_tokens = 16;
    engine->reserve(needs);
    network = engine->make_network(needs.model, head, NetworkUse::trained);
    network->write_weights(0, large_weights(network->layout()));
    batch = {{1, 2, 3, 4, 5}, {0, 3, 5}, {1, 2, 4}};
    resize(3);
  }

  void resize(std::size_t targets) {
    logprobs.resize(targets);
    entropies.resize(targets);
    numbers.resize(targets);
    advantages.resize(targets);
  }
  void forward() { network->make_pass()->forward(batch, 1, logprobs, entropies); }
  void forward_backward(const BatchLoss& loss) {
    PolicyLossSums sums;
    network->make_pass()->forward_backward(batch, 1, loss, logprobs, entropies, sums);
  }
  // count: number of loss inputs per sequence.
  BatchLoss loss(std::size_t first, std::size_t second, double kl) const {
    BatchLoss loss;
    loss.kl.coefficient = kl;
    for (const std::size_t count : {first, second})
      loss.sequences.push_back({std::span(numbers).first(count), std::span(advantages).first(count), {}, 1});
    return loss;
  }
};

}  // namespace

TEST_CASE("a GPU rejects an invalid micro-batch before accessing memory out of bounds") {
  GpuInput gpu;
  CHECK_NOTHROW(gpu.forward());
  const PackedBatch good = gpu.batch;
  const auto check_rejected = [&](const std::vector<std::int32_t>& starts) {
    gpu.batch = good;
    gpu.batch.sequence_starts = starts;
    CHECK_THROWS_AS(gpu.forward(), std::invalid_argument);
  };
  for (const auto& starts :
       std::vector<std::vector<std::int32_t>>{{}, {5}, {0, 5, 5}, {0, 3}, {1, 5}, {0, 1000000, 5}, {0, -4, 5}})
    check_rejected(starts);
  for (const auto& targets :
       std::vector<std::vector<std::int32_t>>{{0, 1, 4}, {1, 3, 4}, {1, 1, 4}, {2, 1, 4}, {1, 2, 5}, {-1, 1, 2}}) {
    gpu.batch = good;
    gpu.batch.targets = targets;
    CHECK_THROWS_AS(gpu.forward(), std::invalid_argument);
  }
  for (const std::int32_t token : {-1, 37}) {
    gpu.batch = good;
    gpu.batch.tokens[2] = token;
    CHECK_THROWS_AS(gpu.forward(), std::out_of_range);
  }
  gpu.batch = {std::vector<std::int32_t>(17, 1), {0, 17}, {1, 2, 3}};
  CHECK_THROWS_AS(gpu.forward(), std::invalid_argument);  // larger than planned
}

TEST_CASE("a GPU rejects loss inputs and results whose size doesn't match the micro-batch") {
  GpuInput gpu;
  CHECK_NOTHROW(gpu.forward_backward(gpu.loss(2, 1, 0)));
  CHECK_THROWS_AS(gpu.forward_backward(gpu.loss(2, 0, 0)), std::invalid_argument);
  CHECK_THROWS_AS(gpu.forward_backward(gpu.loss(3, 3, 0)), std::invalid_argument);
  CHECK_THROWS_AS(gpu.forward_backward(gpu.loss(2, 1, 0.1)), std::invalid_argument);  // a KL term without a reference
  BatchLoss one_sequence = gpu.loss(2, 1, 0);
  one_sequence.sequences.pop_back();
  CHECK_THROWS_AS(gpu.forward_backward(one_sequence), std::invalid_argument);
  gpu.logprobs.resize(2);
  CHECK_THROWS_AS(gpu.forward(), std::invalid_argument);
  CHECK_THROWS_AS(gpu.forward_backward(gpu.loss(2, 1, 0)), std::invalid_argument);

  GpuInput critic(ModelHead::value);
  const auto pass = critic.network->make_pass();
  pass->forward_values(critic.batch, critic.logprobs);
  CHECK_NOTHROW(pass->backward_values(critic.numbers));
  CHECK_THROWS_AS(pass->backward_values(std::span(critic.numbers).first(2)), std::invalid_argument);
}

TEST_CASE("a micro-batch without targets changes no gradient on a GPU") {
  GpuInput gpu;
  gpu.batch.targets.clear();
  gpu.resize(0);
  gpu.network->trained().clear_gradients();
  CHECK_NOTHROW(gpu.forward());
  CHECK_NOTHROW(gpu.forward_backward(gpu.loss(0, 0, 0)));
  CHECK(take_step(gpu.network->trained(), {1e-3f, 0.9f, 0.999f, 1e-8f, 0, 0}).gradient_norm == 0);
}

TEST_CASE("a GPU's generator rejects tokens outside the vocabulary and sequences beyond the context") {
  GpuInput gpu;
  const auto generator = gpu.network->make_generator(3, 16);
  const std::vector<std::int32_t> prompt{1, 2, 3};
  const auto with = [&](std::int32_t token) { return std::vector<std::int32_t>{1, token}; };
  for (const std::int32_t token : {-1, 37}) {
    CHECK_THROWS_AS(generator->begin(0, with(token), 0, 0), std::out_of_range);
    generator->begin(1, prompt, -1, 0);
    CHECK_THROWS_AS(generator->append(1, with(token)), std::out_of_range);
  }
  CHECK_THROWS_AS(generator->begin(3, prompt, -1, 0), std::out_of_range);
  CHECK_THROWS_AS(generator->begin(0, {}, -1, 0), std::invalid_argument);
  CHECK_THROWS_AS(generator->begin(0, std::vector<std::int32_t>(17, 1), -1, 0), std::out_of_range);
  CHECK_THROWS_AS(generator->append(1, std::vector<std::int32_t>(14, 1)), std::out_of_range);
}

TEST_CASE("a response with non-finite logits is reported and can't be continued") {
  GpuInput gpu;
  std::vector<float> weights(gpu.network->layout().size(), std::numeric_limits<float>::quiet_NaN());
  gpu.network->write_weights(0, weights);
  const auto generator = gpu.network->make_generator(3, 16);
  const DrawSettings draws{{1, RandomStream::train_sampling}, 1, {1, 1, 0, 0}, {}};
  const std::vector<ResponseRequest> requests{{0, 4}};
  std::vector<std::vector<Choice>> choices;
  generator->begin(0, std::vector<std::int32_t>{1, 2}, -1, 0);
  generator->generate(requests, draws, choices);
  REQUIRE(choices.at(0).size() == 1);
  CHECK(choices[0][0].id == -1);
  CHECK_THROWS_AS(generator->generate(requests, draws, choices), std::invalid_argument);
}

TEST_CASE("the suggested settings change only what is necessary") {
  GpuInput gpu;
  const auto hint_with = [&](const EngineNeeds& needs, std::int64_t bytes) -> std::string {
    cuda::emulated::set_device_memory(static_cast<std::size_t>(bytes) * 64 / 63 + 64);  // a 64th is reserved
    std::string hint = "none";
    try {
      make_engine({"cuda:0"}, gpu.threads)->reserve(needs);
    } catch (const Error& error) {
      CHECK(error.code() == "gpu_out_of_memory");
      hint = error.hint();
    }
    cuda::emulated::set_device_memory(cuda::emulated::kDefaultDeviceMemory);
    return hint;
  };
  gpu.network.reset();
  gpu.engine.reset();
  const auto planned = [&](const EngineNeeds& needs) {
    return make_engine({"cuda:0"}, gpu.threads)->reserve(needs).total_bytes();
  };
  EngineNeeds many_slots = gpu.needs;
  many_slots.slots = 4096;
  EngineNeeds half = many_slots;
  half.slots = 2048;
  CHECK(hint_with(many_slots, planned(half)) == "set rollout.slots to 2048");
  many_slots.pass_tokens = half.pass_tokens = 0;  // no update: an evaluation
  half.trains_policy = many_slots.trains_policy = false;
  CHECK(hint_with(many_slots, planned(half)) ==
        "close other programs that use the memory, or use a device with more memory");

  EngineNeeds long_passes = gpu.needs;
  long_passes.pass_tokens = 8192;
  EngineNeeds shorter = long_passes;
  shorter.pass_tokens = 2048;
  CHECK(hint_with(long_passes, planned(shorter)) == "set optimizer.micro_batch_tokens to 2048");
  EngineNeeds longest = gpu.needs;
  longest.pass_tokens = longest.context = 8192;
  longest.slots = 1;
  longest.groups = 0;
  EngineNeeds again = longest;
  again.recompute = Recompute::block;
  CHECK(hint_with(longest, planned(again)) == "set optimizer.recompute to block");
  EngineNeeds diagnosed = again;
  diagnosed.reads_start = true;
  CHECK(hint_with(diagnosed, planned(again)) == "set diagnostics.every to 0");
  diagnosed.recompute = Recompute::none;
  CHECK(hint_with(diagnosed, planned(again)) == "set optimizer.recompute to block and diagnostics.every to 0");
  CHECK(hint_with(gpu.needs, 4096).starts_with("no value of"));
}
