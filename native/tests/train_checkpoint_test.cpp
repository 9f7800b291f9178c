#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/load_weights.h"
#include "error_code.h"
#include "peak_memory.h"
#include "system_calls.h"
#include "tiny_policy.h"
#include "train/checkpoint/checkpoint.h"
#include "whole_files.h"

using namespace starpo;
using namespace starpo::test;
namespace fs = std::filesystem;

namespace {

struct Checkpointed {
  TemporaryFolder model, run;
  RunConfig config = small_run_config();
  std::unique_ptr<TrainerState> state;
  Journal journal{run.path()};

  Checkpointed() {
    make_tiny_model_folder(model.path());
    config.checkpoint.keep = 1;
    state = tiny_state(config, model.path());
  }

  void write(int iteration) { write_checkpoint(run.path(), parts_of(*state), iteration, journal); }
  fs::path checkpoints() const { return run.path() / "checkpoints"; }
  std::vector<int> resumable() const { return resumable_checkpoints(run.path()); }
};

}  // namespace

TEST_CASE_FIXTURE(Checkpointed, "a checkpoint does not need the initial model folder") {
  fs::remove_all(model.path());
  Trainable& parameters = state->replica.policy->trained();
  change(parameters, StateVector::weights, 7, 0.25f);
  change(parameters, StateVector::first_moment, 7, 0.5f);
  parameters.set_steps(3);
  write(5);
  TrainerState read(config, run.path() / checkpoint_path(5));
  load_checkpoint(run.path(), 5, config.seed, read.replica);
  Trainable& again = read.replica.policy->trained();
  for (const StateVector each : {StateVector::weights, StateVector::first_moment})
    CHECK(state_of(again, each) == state_of(parameters, each));
  CHECK(again.steps() == 3);
  CHECK(fs::exists(run.path() / checkpoint_path(5) / "tokenizer_config.json"));
}

TEST_CASE_FIXTURE(Checkpointed, "a checkpoint contains the critic and its optimizer") {
  config.advantage.estimator = AdvantageEstimator::gae;
  for (const CriticModel kind : {CriticModel::full, CriticModel::head}) {
    config.critic.model = kind;
    state = tiny_state(config, model.path());
    state->replica.critic->initialize_from(*state->replica.policy);
    Trainable& parameters = state->replica.critic->trained();
    change(parameters, StateVector::weights, 7, 0.25f);
    change(parameters, StateVector::second_moment, 7, 0.5f);
    parameters.set_steps(3);
    write(5);
    TrainerState read(config, run.path() / checkpoint_path(5));
    load_checkpoint(run.path(), 5, config.seed, read.replica);
    Trainable& again = read.replica.critic->trained();
    for (const StateVector each : {StateVector::weights, StateVector::second_moment})
      CHECK(state_of(again, each) == state_of(parameters, each));
    CHECK(again.steps() == 3);
  }
}

TEST_CASE_FIXTURE(Checkpointed, "a checkpoint copies generation_config.json unchanged") {
  const std::string generation = "{\"eos_token_id\": [507, 505], \"top_k\": 20}";
  write_text(model.path() / "generation_config.json", generation);
  state = tiny_state(config, model.path());
  CHECK(state->playground.chat.ends_response(505));
  CHECK(state->playground.chat.ends_response(507));
  CHECK(!state->playground.chat.ends_response(506));
  write(5);
  CHECK(read_text(run.path() / checkpoint_path(5) / "generation_config.json") == generation);
  load_checkpoint(run.path(), 5, config.seed, state->replica);
}

TEST_CASE_FIXTURE(Checkpointed, "stop ids from config.json alone also end responses after a checkpoint") {
  fs::remove(model.path() / "generation_config.json");
  auto named = nlohmann::json::parse(read_text(model.path() / "config.json"));
  named["eos_token_id"] = {505, 507};
  write_text(model.path() / "config.json", named.dump());
  state = tiny_state(config, model.path());
  write(5);
  const auto resumed = std::make_unique<TrainerState>(config, run.path() / checkpoint_path(5));
  for (const TrainerState* each : {state.get(), resumed.get()})
    CHECK(each->playground.chat.stop_ids() == std::vector<std::int32_t>{507, 505});
}

TEST_CASE_FIXTURE(Checkpointed, "a run can resume only from the newest checkpoints, but all keep their weights") {
  for (const int iteration : {0, 5, 1000000}) write(iteration);
  CHECK(resumable() == std::vector<int>{1000000});
  CHECK(fs::exists(checkpoints() / "000000/model.safetensors"));
}

TEST_CASE_FIXTURE(Checkpointed, "a pinned checkpoint keeps its optimizer state, and the journal logs deleted states") {
  write(0);
  CHECK(set_checkpoint_pinned(run.path(), 0, true).done);
  for (const int iteration : {5, 10}) write(iteration);
  CHECK(resumable() == std::vector<int>{10, 0});
  CHECK(set_checkpoint_pinned(run.path(), 0, false).done);
  write(15);
  CHECK(resumable() == std::vector<int>{15});

  std::string removed;
  std::istringstream lines(read_text(run.path() / "events.jsonl"));
  for (std::string line; std::getline(lines, line);)
    if (const auto event = nlohmann::json::parse(line); event.at("type") == "checkpoint_state_removed")
      removed += event.at("iteration").dump() + " ";
  CHECK(removed == "5 10 0 ");
}

TEST_CASE_FIXTURE(Checkpointed, "a rewritten checkpoint stays pinned") {
  write(0);
  CHECK(set_checkpoint_pinned(run.path(), 0, true).done);
  write_text(checkpoints() / "000000/model.safetensors", "damaged");
  write(0);
  CHECK(is_checkpoint_pinned(run.path(), 0));
}

TEST_CASE_FIXTURE(Checkpointed, "a flipped bit in the weights or the optimizer state is refused") {
  write(5);
  const fs::path folder = run.path() / checkpoint_path(5);
  for (const char* file : {kCheckpointWeightsFile, kCheckpointStateFile}) {
    const std::string content = read_text(folder / file);
    std::string damaged = content;
    damaged[damaged.size() - 4] ^= 1;  // changes the last number by one rounding step
    write_text(folder / file, damaged);
    std::string code, message;
    try {
      load_checkpoint(run.path(), 5, config.seed, state->replica);
    } catch (const Error& error) {
      code = error.code(), message = error.what();
    }
    CHECK(code == "checkpoint_corrupt");
    CHECK(message.find((folder / file).string() + ": ") != std::string::npos);
    CHECK(message.ends_with(" was changed after it was written: its checksum differs"));
    if (file == std::string(kCheckpointStateFile))
      CHECK(error_code_of([&] { load_start_state(folder, 5, state->replica); }) == "checkpoint_corrupt");
    else
      CHECK(error_code_of([&] { load_weights(folder, *state->replica.policy); }) == "model_file_invalid");
    write_text(folder / file, content);
  }
  load_checkpoint(run.path(), 5, config.seed, state->replica);
}

TEST_CASE_FIXTURE(Checkpointed,
                  "a changed or deeply nested trainer-state.json is refused, and one without a checksum is read") {
  write(5);
  const fs::path folder = run.path() / checkpoint_path(5), file = folder / "trainer-state.json";
  const auto load = [&] { load_checkpoint(run.path(), 5, config.seed, state->replica); };
  const auto error_of = [](const auto& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.code() + ": " + error.what();
    }
    return std::string("none");
  };
  auto content = nlohmann::json::parse(read_text(file));
  CHECK(content.at("crc32").get<std::string>().size() == 8);
  write_text(file, content.dump());  // whitespace doesn't count
  load();

  content["optimizer_steps"] = content["optimizer_steps"].get<int>() + 1;
  write_text(file, content.dump());
  const std::string changed = "trainer-state.json was changed after it was written: its checksum differs";
  CHECK(error_of(load).starts_with("checkpoint_corrupt: checkpoints/000005 can't be read: " + changed));
  CHECK(error_of([&] { load_start_state(folder, 5, state->replica); }).find(changed) != std::string::npos);

  content.erase("crc32");
  write_text(file, content.dump());
  load();
  write_text(file, R"({"a":)" + std::string(200'000, '[') + std::string(200'000, ']') + "}");
  CHECK(error_of(load).find("nested too deeply") != std::string::npos);
  fs::remove(file);
  CHECK(error_of(load).find("trainer-state.json is missing") != std::string::npos);
}

TEST_CASE_FIXTURE(Checkpointed, "a fork loads the optimizer state of its parent or fails with the reason") {
  state->replica.policy->trained().set_steps(7);
  write(5);
  const auto fresh = tiny_state(config, model.path());
  load_start_state(run.path() / checkpoint_path(5), 5, fresh->replica);
  CHECK(fresh->replica.policy->trained().steps() == 7);

  CHECK(error_code_of([&] { load_start_state(run.path() / checkpoint_path(5), 4, fresh->replica); }) ==
        "start_state_mismatch");

  RunConfig with_critic = config;
  with_critic.critic.model = CriticModel::head;
  with_critic.advantage.estimator = AdvantageEstimator::gae;
  const auto other = tiny_state(with_critic, model.path());
  CHECK(error_code_of([&] { load_start_state(run.path() / checkpoint_path(5), 5, other->replica); }) ==
        "start_state_mismatch");
  fs::remove(run.path() / checkpoint_path(5) / kCheckpointStateFile);
  CHECK(error_code_of([&] { load_start_state(run.path() / checkpoint_path(5), 5, fresh->replica); }) ==
        "start_state_missing");
}

TEST_CASE_FIXTURE(Checkpointed, "a damaged newer checkpoint does not count against the kept optimizer states") {
  write(50);
  write_text(checkpoints() / "000050/trainer-state.json", "{");
  write(45);
  CHECK(resumable() == std::vector<int>{50, 45});
  CHECK(error_code_of([&] { load_checkpoint(run.path(), 50, config.seed, state->replica); }) == "checkpoint_corrupt");
  load_checkpoint(run.path(), 45, config.seed, state->replica);
}

TEST_CASE_FIXTURE(Checkpointed, "writing a checkpoint again replaces it") {
  write(5);
  write_text(checkpoints() / "000005/trainer-state.json", "{");
  write(5);
  load_checkpoint(run.path(), 5, config.seed, state->replica);
  CHECK(std::distance(fs::directory_iterator(checkpoints()), {}) == 1);
}

TEST_CASE_FIXTURE(Checkpointed, "a checkpoint that can't be replaced is kept") {
  write(5);
  fs::create_directories(checkpoints() / ".000005.replaced/in the way");
  CHECK(error_code_of([&] { write(5); }) == "file_unwritable");
  load_checkpoint(run.path(), 5, config.seed, state->replica);
}

TEST_CASE_FIXTURE(Checkpointed, "a kill between the two renames of a replacement loses no checkpoint") {
  write(5);
  fs::rename(checkpoints() / "000005", checkpoints() / ".000005.replaced");
  fs::create_directories(checkpoints() / ".000005.partial");
  remove_partial_files(run.path());
  load_checkpoint(run.path(), 5, config.seed, state->replica);
  CHECK(std::distance(fs::directory_iterator(checkpoints()), {}) == 1);

  fs::create_directories(checkpoints() / ".000005.replaced/left behind");
  remove_partial_files(run.path());
  load_checkpoint(run.path(), 5, config.seed, state->replica);
  CHECK(std::distance(fs::directory_iterator(checkpoints()), {}) == 1);
}

TEST_CASE_FIXTURE(Checkpointed, "a folder that can't be created is reported with a hint") {
  write_text(checkpoints(), "a file");
  CHECK(error_code_of([&] { write(0); }) == "file_unwritable");
}

TEST_CASE_FIXTURE(
    Checkpointed,
    "the first checkpoint survives a power failure: its directory entry and that of checkpoints/ are flushed") {
  take_flushed();
  write(0);
  const auto flushed = take_flushed();
  for (const fs::path& each : {run.path(), checkpoints()})
    CHECK(std::ranges::find(flushed, fs::canonical(each)) != flushed.end());
}

TEST_CASE("writing and loading a checkpoint make no copy of its data") {
  TemporaryFolder model, run;
  make_tiny_model_folder(model.path());
  auto shape = read_model_folder_config(model.path());
  shape.hidden_size = 256;
  shape.intermediate_size = 2048;
  shape.num_hidden_layers = 4;  // 7 million weights, so one vector has 29 MB
  const ParameterLayout layout(shape);
  write_model_folder(model.path(), layout, initial_weights(layout, 3), {507});
  Journal journal(run.path());
  const RunConfig config = small_run_config();
#ifdef __SANITIZE_THREAD__
  constexpr std::int64_t most = 26 << 20;  // includes bookkeeping; a copy would still be larger
#else
  constexpr std::int64_t most = 16 << 20;
#endif

  {
    const auto state = tiny_state(config, model.path());
    state->replica.policy->trained().clear_gradients();
    take_step(state->replica.policy->trained(), {1e-3f, 0.9f, 0.999f, 1e-8f, 0.01f, 1});
    const PeakMemory peak;
    write_checkpoint(run.path(), parts_of(*state), 1, journal);
    CHECK(peak.bytes() < most);
  }
  TrainerState resumed(config, run.path() / checkpoint_path(1));
  const PeakMemory peak;
  load_checkpoint(run.path(), 1, config.seed, resumed.replica);
  CHECK(peak.bytes() - peak.kept_bytes() < most);
}
