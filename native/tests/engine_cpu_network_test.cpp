#include <doctest/doctest.h>

#include <stdexcept>

#include "engine/cpu/cpu_engine.h"
#include "engine/cpu/kernels/bf16_kernels.h"
#include "engine/load_weights.h"
#include "error_code.h"
#include "model_fixtures.h"

using namespace starpo;

namespace {

std::vector<Precision> precisions() {
  std::vector<Precision> all{Precision::fp32};
  if (bf16_kernels() != nullptr) all.push_back(Precision::bf16);
  return all;
}

// Returns the log-probabilities of a batch and the choices of an episode as floats.
std::vector<float> all_outputs(Network& network) {
  const PackedBatch batch = random_batch(network.layout().config(), {9, 40});
  std::vector<float> results(2 * batch.targets.size());
  const auto pass = network.make_pass();
  pass->forward(batch, 0.7f, std::span(results).first(batch.targets.size()),
                std::span(results).subspan(batch.targets.size()));
  const auto generator = network.make_generator(1, 60);
  generator->begin(0, batch.tokens, -1, 1);
  std::vector<std::vector<Choice>> choices;
  const ResponseRequest request{0, 1};
  for (int i = 0; i < 5; ++i) {
    generator->generate({&request, 1}, {{1, RandomStream::train_sampling}, 1, {}, {}}, choices);
    results.insert(results.end(), {static_cast<float>(choices[0][0].id), choices[0][0].logprob, choices[0][0].entropy});
  }
  return results;
}

}  // namespace

TEST_CASE("a read-only network has bit-identical outputs with less memory, and accepts weights in chunks") {
  ThreadPool threads(2);
  for (const Precision precision : precisions())
    for (const bool tied : {true, false}) {
      CpuEngine engine(threads, precision);
      const ModelConfig config = small_config({4, 2, 6, tied});
      const auto learning = engine.make_network(config, ModelHead::language, NetworkUse::trained),
                 read = engine.make_network(config, ModelHead::language, NetworkUse::read);
      const auto weights = large_weights(learning->layout());
      learning->write_weights(0, weights);
      for (std::size_t first = 0, size = 1; first < weights.size(); first += size, size = size * 3 % 1009 + 1)
        read->write_weights(first, std::span(weights).subspan(first, std::min(size, weights.size() - first)));
      CHECK(same_bits(all_outputs(*read), all_outputs(*learning)));

      const auto copied = engine.make_network(config, ModelHead::language, NetworkUse::read);
      copy_weights(*learning, *copied);
      CHECK(same_bits(all_outputs(*copied), all_outputs(*learning)));
      const auto bytes = [&](NetworkUse use) { return CpuModel::bytes(learning->layout(), precision, use); };
      CHECK(bytes(NetworkUse::read) < bytes(NetworkUse::trained));
    }
}

TEST_CASE("a network with NetworkUse::read rejects training and reading of weights") {
  ThreadPool threads(1);
  const auto network = CpuEngine(threads, Precision::fp32)
                           .make_network(small_config({2, 1, 8, true}), ModelHead::language, NetworkUse::read);
  const PackedBatch batch = random_batch(network->layout().config(), {9});
  std::vector<float> logprobs(batch.targets.size()), entropies(batch.targets.size()), number(1);
  PolicyLossSums sums;
  CHECK_THROWS_AS(network->trained(), std::logic_error);
  CHECK_THROWS_AS(network->make_pass()->forward_backward(batch, 1, {}, logprobs, entropies, sums), std::logic_error);
  CHECK_THROWS_AS(network->read_weights(0, number), std::logic_error);
  CHECK_THROWS_AS(network->write_weights(network->layout().size(), number), std::out_of_range);
}

TEST_CASE("trainable tensors cover the flat vector in order, and a value head has its own") {
  ThreadPool threads(1);
  const auto network = CpuEngine(threads, Precision::fp32)
                           .make_network(small_config({2, 1, 8, true}), ModelHead::value, NetworkUse::trained);
  const auto head = make_value_head(20, threads);
  for (const Trainable* each : {&network->trained(), &head->trained()}) {
    std::size_t end = 0;
    for (const TensorSlot& tensor : each->tensors()) {
      CHECK(tensor.offset == end);
      end += tensor.size;
    }
    CHECK(each->size() == end);
    CHECK(each->tensors().back().name == "score.bias");
  }
  CHECK(head->trained().size() == 21);
}

TEST_CASE("the memory of a CPU run is planned by part, and a run that doesn't fit is rejected with settings that fit") {
  ThreadPool threads(1);
  CpuEngine engine(threads, Precision::fp32);
  EngineNeeds needs{.model = small_config({2, 1, 8, true})};
  needs.trains_policy = needs.trains_critic = needs.reads_reference = needs.reads_start = true;
  needs.slots = 4;
  needs.context = needs.pass_tokens = 64;
  const MemoryPlan plan = engine.reserve(needs);
  CHECK(plan.device == "cpu");
  CHECK(plan.free_bytes > 0);
  std::vector<std::string> names;
  for (const MemoryPart& part : plan.parts) {
    names.push_back(part.name);
    CHECK(part.lifetime == MemoryLifetime::run);
    CHECK(part.bytes > 0);
  }
  CHECK(names == std::vector<std::string>{"policy", "critic", "reference", "start", "kv_cache", "rollout_buffers",
                                          "activations", "logits"});
  CHECK(plan.parts[2].bytes * 3 < plan.parts[0].bytes);  // no master weights, gradients and moments
  CHECK(plan.parts[3].bytes == plan.parts[2].bytes);

  needs.slots = 1 << 30;  // a cache of more than a petabyte
  needs.context = 4096;
  const auto hint = [&] {
    try {
      engine.reserve(needs);
    } catch (const Error& error) {
      CHECK(error.code() == "out_of_memory");
      return error.hint();
    }
    return std::string();
  };
  CHECK(hint().starts_with("set rollout.slots to "));
  needs.trains_policy = needs.trains_critic = false;
  CHECK(hint() == "close other programs that use the memory, or use a device with more memory");
}
