#include <doctest/doctest.h>

#include <array>
#include <filesystem>

#include "base/error.h"
#include "engine/cuda/emulated/device.h"
#include "engine/cuda/emulated/order.h"
#include "engine/cuda/selftest/engine_case.h"
#include "error_code.h"
#include "model/folder.h"
#include "repository.h"
#include "thread_orders.h"

using namespace starpo;

TEST_CASE("the thread order changes no bit of a training step or of sampled tokens") {
  std::vector<float> weights;
  std::vector<cuda::FirstTurns> turns;
  for (const unsigned order : thread_orders()) {
    CAPTURE(order);
    cuda::emulated::set_order(order);
    cuda::EngineCase gpu({"cuda:0", Precision::bf16}, cuda::EngineCase::needs());
    turns.push_back(cuda::first_turns(cuda::play_turns(gpu.network(), true)));
    cuda::training_step(gpu.network());
    if (order == 0) weights = gpu.state(StateVector::weights);
    CHECK(gpu.state(StateVector::weights) == weights);
    CHECK(turns.back().chosen == turns[0].chosen);
    CHECK(turns.back().batch.tokens == turns[0].batch.tokens);
  }
  cuda::emulated::set_order(0);
}

TEST_CASE("two engines on different devices in one thread train like single engines") {
  cuda::EngineCase alone({"cuda:0", Precision::bf16}, cuda::EngineCase::needs());
  cuda::training_step(alone.network());
  const auto turns = cuda::first_turns(cuda::play_turns(alone.network(), true));
  cuda::emulated::set_devices(2);
  {
    cuda::EngineCase first({"cuda:0", Precision::bf16}, cuda::EngineCase::needs());
    cuda::EngineCase second({"cuda:1", Precision::bf16}, cuda::EngineCase::needs());
    for (cuda::EngineCase* each : {&first, &second}) cuda::training_step(each->network());
    for (cuda::EngineCase* each : {&first, &second}) {
      CHECK(each->state(StateVector::weights) == alone.state(StateVector::weights));
      CHECK(cuda::first_turns(cuda::play_turns(each->network(), true)).chosen == turns.chosen);
    }
    CHECK(second.engine().device() == "cuda:1");
  }
  cuda::emulated::set_devices(1);
}

TEST_CASE("a pass without gradients copies only its inputs and results") {
  cuda::EngineCase gpu({"cuda:0", Precision::bf16}, cuda::EngineCase::needs());
  const PackedBatch batch = cuda::case_batch(std::array{40, 30});
  std::vector<float> logprobs(batch.targets.size()), entropies(logprobs.size());
  const auto pass = gpu.network().make_pass();
  const std::int64_t before = cuda::emulated::staged_copies();
  pass->forward(batch, 1, logprobs, entropies);
  // Up: ids, positions, target rows and ids, starts. Down: log-probabilities and entropies.
  CHECK(cuda::emulated::staged_copies() - before == 7);
}

TEST_CASE("a short context decodes without key parts, and bit-identically beside a long context") {
  EngineNeeds needs = cuda::EngineCase::needs();
  needs.context = 560;
  cuda::EngineCase gpu({"cuda:0", Precision::bf16, Exactness::fast}, needs);
  const auto generator = gpu.network().make_generator(5, needs.context);
  const std::vector<std::int32_t> long_prompt = cuda::case_batch(std::array{520}).tokens;
  struct Decoded {
    std::vector<float> logprobs;
    std::int64_t calls;  // of the device, in a call without prefill
  };
  const auto decode = [&](bool beside_long) {
    generator->reset();
    generator->begin(0, std::array{1, 2, 3, 4}, -1, 7);
    std::vector<ResponseRequest> requests{{0, 24}};
    if (beside_long) {
      generator->begin(1, long_prompt, -1, 8);
      requests.push_back({1, 24});
    }
    Decoded decoded;
    std::vector<std::vector<Choice>> choices;
    for (int call = 0; call < 2; ++call) {
      const std::int64_t before = cuda::emulated::device_calls();
      generator->generate(requests, {{3, RandomStream::train_sampling}, 5, {}, {}}, choices);
      decoded.calls = cuda::emulated::device_calls() - before;
      for (const Choice& choice : choices[0]) decoded.logprobs.push_back(choice.logprob);
    }
    return decoded;
  };
  const Decoded alone = decode(false), beside = decode(true);
  CHECK(alone.logprobs.size() == 16);
  CHECK(alone.logprobs == beside.logprobs);
  CHECK(beside.calls - alone.calls == 8 * 2);  // a merge of two parts, per step and layer
}

TEST_CASE("a response that fills its cache slot ends, and doesn't write into the next slot") {
  for (const Precision precision : {Precision::bf16, Precision::fp32}) {
    cuda::EngineCase gpu({"cuda:0", precision, Exactness::exact}, cuda::EngineCase::needs());
    const auto generator = gpu.network().make_generator(2, 16);
    const std::vector<std::int32_t> long_prompt = cuda::case_batch(std::array{14}).tokens;
    const auto decode = [&](bool beside_full) {
      generator->reset();
      generator->begin(1, std::array{1, 2, 3, 4}, -1, 7);
      std::vector<ResponseRequest> requests{{1, 8}};
      if (beside_full) {
        generator->begin(0, long_prompt, -1, 8);
        requests.push_back({0, 8});
      }
      std::vector<std::vector<Choice>> choices;
      generator->generate(requests, {{3, RandomStream::train_sampling}, 5, {}, {}}, choices);
      if (beside_full) CHECK(choices[1].size() == 3);  // the last one is not cached
      std::vector<float> logprobs;
      for (const Choice& choice : choices[0]) logprobs.push_back(choice.logprob);
      return logprobs;
    };
    const std::vector<float> alone = decode(false);
    CHECK(alone.size() == 8);
    CHECK(decode(true) == alone);
  }
}

TEST_CASE("decoding makes no copies that block the host") {
  cuda::EngineCase gpu({"cuda:0", Precision::bf16}, cuda::EngineCase::needs());
  const auto generator = gpu.network().make_generator(5, 96);
  generator->reset();
  for (int slot = 0; slot < 3; ++slot)
    generator->begin(slot, std::array{1, 2, 3, 4}, 1, static_cast<std::uint32_t>(slot));
  const DrawSettings draws{{3, RandomStream::train_sampling}, 5, {}, {}};
  const ResponseRequest requests[] = {{0, 24}, {1, 24}, {2, 24}};
  std::vector<std::vector<Choice>> choices;
  generator->generate(requests, draws, choices);  // includes the prompts
  const std::int64_t before = cuda::emulated::staged_copies();
  generator->generate(requests, draws, choices);
  CHECK(choices[0].size() > 1);
  CHECK(cuda::emulated::staged_copies() == before);
  generator->append(0, std::array{5, 6});
  generator->generate(requests, draws, choices);
  CHECK(cuda::emulated::staged_copies() > before);
}

TEST_CASE("a run that doesn't fit a GPU is rejected before it starts, with settings that fit") {
  EngineNeeds needs = cuda::EngineCase::needs();
  needs.pass_tokens = 4096;
  ThreadPool threads(1);
  const auto planned = make_engine({"cuda:0"}, threads)->reserve(cuda::EngineCase::needs());
  cuda::emulated::set_device_memory(static_cast<std::size_t>(planned.total_bytes()) * 5 / 4);
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
  cuda::emulated::set_device_memory(cuda::emulated::kDefaultDeviceMemory);
}

TEST_CASE("a GPU accepts the shape of every supplied policy") {
  ThreadPool threads(1);
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::repository() / "resources")) {
    if (!std::filesystem::exists(entry.path() / "model.safetensors")) continue;
    CAPTURE(entry.path().string());
    EngineNeeds needs = cuda::EngineCase::needs();
    needs.model = read_model_folder_config(entry.path());
    CHECK_NOTHROW(make_engine({"cuda:0"}, threads)->reserve(needs));
    ++count;
  }
  CHECK(count >= 2);
}

TEST_CASE("a shape without kernels is rejected with its field") {
  ThreadPool threads(1);
  for (const auto& [name, field] :
       {std::pair{"hidden_size", &ModelConfig::hidden_size}, {"intermediate_size", &ModelConfig::intermediate_size}}) {
    EngineNeeds needs = cuda::EngineCase::needs();
    needs.model.*field = 20;
    CHECK(error_code_of([&] { make_engine({"cuda:0"}, threads)->reserve(needs); }) == "model_unsupported");
    CHECK_THROWS_WITH_AS(make_engine({"cuda:0"}, threads)->reserve(needs), doctest::Contains(name), Error);
  }
}

TEST_CASE("the default micro-batch is as large as the GPU's memory allows") {
  const EngineNeeds needs = cuda::EngineCase::needs();
  ThreadPool threads(1);
  const auto total = [&](int tokens) {
    EngineNeeds sized = needs;
    sized.pass_tokens = tokens;
    return static_cast<std::size_t>(make_engine({"cuda:0"}, threads)->reserve(sized).total_bytes());
  };
  CHECK(make_engine({"cpu"}, threads)->default_pass_tokens(needs) == 4096);
  CHECK(make_engine({"cuda:0"}, threads)->default_pass_tokens(needs) == 32768);
  const std::size_t room = total(8192) * 9 / 8;
  cuda::emulated::set_device_memory(room);
  CHECK(make_engine({"cuda:0"}, threads)->default_pass_tokens(needs) == 8192);
  cuda::emulated::set_device_memory(4096);
  CHECK(make_engine({"cuda:0"}, threads)->default_pass_tokens(needs) == 2048);
  cuda::emulated::set_device_memory(cuda::emulated::kDefaultDeviceMemory);
}
