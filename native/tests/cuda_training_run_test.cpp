#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "engine/cuda/emulated/device.h"
#include "engine/cuda/selftest/check.h"
#include "engine/engine.h"
#include "error_code.h"
#include "model/folder.h"
#include "model_fixtures.h"
#include "tiny_policy.h"
#include "tiny_run.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/checkpoint_writer.h"
#include "train/context/levels.h"
#include "train/evaluation/evaluate_checkpoint.h"
#include "train/replica/dry_step.h"
#include "train/run/training_run.h"
#include "train/update/optimizer_step.h"
#include "train/update/policy_update.h"
#include "whole_files.h"

using namespace starpo;
using namespace starpo::test;
using nlohmann::json;

namespace {

// Whole runs on the emulated GPU. They have few tokens, because each CUDA thread is a fiber.
struct DeviceRun : TinyRun {
  DeviceRun() {
    config["device"] = "cuda";
    config["rollout"].update(
        {{"groups", 2}, {"group_size", 2}, {"slots", 3}, {"max_response_tokens", 4}, {"context", 96}});
    config["environments"][0]["config"]["size"] = 2;
    config["environments"][0]["max_turns"] = 2;
    config["optimizer"]["micro_batch_tokens"] = 96;
    config["policy_loss"]["mini_batch"] = 2;
    config["evaluation"]["levels"] = 1;
    config["checkpoint"]["every"] = 1;
  }

  json metrics() const { return events("iteration").back().at("metrics"); }
  std::string state(const std::string& checkpoint) const {
    return read_text(run.path() / "checkpoints" / checkpoint / "trainer-state.safetensors");
  }

  // Removes the journal too, because a run whose journal has iterations can't start over.
  void remove_checkpoints() const {
    std::filesystem::remove_all(run.path() / "checkpoints");
    std::filesystem::remove(run.path() / "events.jsonl");
  }
  std::vector<float> final_weights() const {
    const auto folder = run.path() / "checkpoints/000002";
    return read_model_folder_weights(folder, ParameterLayout(read_model_folder_config(folder)));
  }
  std::string failure_code() const {
    return events("failed").empty() ? "none" : events("failed").back().at("code").get<std::string>();
  }

  // Repeats the last iteration in a new process, and returns weights, moments and critic.
  void check_that_resuming_changes_no_bit(const std::string& last) {
    const auto weights_before = weights(last), state_before = state(last);
    std::filesystem::remove_all(run.path() / "checkpoints" / last);
    CHECK(train() == 0);
    CHECK(events("started").back().at("resume").is_object());
    CHECK(weights(last) == weights_before);
    CHECK(state(last) == state_before);
  }
};

void check_exact(const json& metrics) {
  for (const char* name : {"rollout/logprob_gap", "rollout/logprob_gap_max", "rollout/logprob_gap_kl"})
    CHECK(metrics.at(name) == 0);
  CHECK(metrics.at("actor/grad_norm") > 0);
}

}  // namespace

TEST_CASE_FIXTURE(DeviceRun,
                  "a run on a GPU reports its device and memory plan, is exact, resumes bit-identically, and keeps a "
                  "vocabulary size that isn't a multiple of 8") {
  make_tiny_model_folder(model.path(), 3, 515);
  for (const auto& [precision, exactness] :
       {std::pair<std::string, std::string>{"fp32", "exact"}, {"bf16", "exact"}, {"bf16", "fast"}}) {
    CAPTURE(precision);
    CAPTURE(exactness);
    config["precision"] = precision;
    config["exactness"] = exactness;
    remove_checkpoints();
    // The moments of a checkpoint are zero before the first step. Fast runs keep them in the same way.
    const bool exact = exactness == "exact";
    config["iterations"] = exact ? 2 : 1;
    const std::string last = exact ? "000002" : "000001";
    CHECK(train() == 0);
    CHECK(events("started").back().at("device") == "cuda:0");
    CHECK(events("started").back().at("isa") == "sm_90");
    const json plan = events("memory_plan").back();
    CHECK(metrics().at("memory/device_peak_bytes") >= plan.at("total_bytes"));
    CHECK(plan.at("device") == "cuda:0");
    CHECK(plan.at("total_bytes") > 0);
    CHECK(plan.at("total_bytes") <= plan.at("free_bytes"));
    if (exact) check_exact(metrics());
    CHECK(read_model_folder_config(run.path() / "checkpoints" / last).vocab_size == 515);
    check_that_resuming_changes_no_bit(last);
  }
}

TEST_CASE_FIXTURE(DeviceRun, "a GPU run with either critic, a KL term, replay and contexts resumes bit-identically") {
  config["replay"] = {{"iterations", 1}, {"share", 0.5}};
  config["advantage"].update({{"estimator", "gae"}, {"lambda", 0.95}, {"whiten", true}});
  for (const auto& [critic, placement, precision, context_turns] :
       {std::tuple<std::string, std::string, std::string, int>{"full", "loss", "fp32", 0},
        {"full", "reward", "bf16", 1},
        {"head", "loss", "bf16", 0}}) {
    CAPTURE(critic);
    CAPTURE(placement);
    config["precision"] = precision;
    config["critic"]["model"] = critic;
    config["rollout"]["context_turns"] = context_turns;
    config["kl"].update({{"coefficient", 0.1}, {"estimator", "k3"}, {"placement", placement}});
    remove_checkpoints();
    CHECK(train() == 0);
    check_exact(metrics());
    CHECK(metrics().at("critic/grad_norm") > 0);
    CHECK(metrics().at("actor/kl_to_reference") > 0);
    CHECK(metrics().at("replay/share") == 0.5);
    check_that_resuming_changes_no_bit("000002");
  }
}

namespace {

// A policy on the emulated GPU, and the writer of its checkpoints.
struct DeviceCheckpoint {
  TemporaryFolder model, run;
  RunConfig config = small_run_config();
  Journal journal{run.path()};
  std::unique_ptr<TrainerState> state;
  CheckpointWriter writer{run.path(), journal};

  DeviceCheckpoint() {
    make_tiny_model_folder(model.path());
    config.device = "cuda";
    config.optimizer.micro_batch_tokens = 300;
    state = tiny_state(config, model.path());
  }
  Trainable& policy() { return state->replica.policy->trained(); }
};

}  // namespace

TEST_CASE_FIXTURE(DeviceCheckpoint,
                  "a checkpoint of a GPU contains the state at its start, although training continues") {
  policy().set_steps(3);
  const std::vector<float> weights = state_of(policy(), StateVector::weights),
                           moments = state_of(policy(), StateVector::first_moment);
  writer.start(parts_of(*state), 5);
  change(policy(), StateVector::weights, 7, 0.25f);
  change(policy(), StateVector::first_moment, 7, 0.5f);
  policy().set_steps(4);
  CHECK(resumable_checkpoints(run.path()).empty());  // before it is published
  writer.publish();
  CHECK(resumable_checkpoints(run.path()) == std::vector<int>{5});
  load_checkpoint(run.path(), 5, config.seed, state->replica);
  CHECK(state_of(policy(), StateVector::weights) == weights);
  CHECK(state_of(policy(), StateVector::first_moment) == moments);
  CHECK(policy().steps() == 3);

  // The next start publishes the previous checkpoint.
  writer.start(parts_of(*state), 6);
  writer.start(parts_of(*state), 7);
  CHECK(resumable_checkpoints(run.path()) == std::vector<int>{6, 5});
  writer.publish();
  writer.publish();
  CHECK(resumable_checkpoints(run.path()).front() == 7);
}

TEST_CASE_FIXTURE(DeviceCheckpoint,
                  "an error while a checkpoint of a GPU is written is reported when it is published") {
  write_text(run.path() / "checkpoints", "a file");
  writer.start(parts_of(*state), 5);
  CHECK(error_code_of([&] { writer.publish(); }) == "file_unwritable");
  std::filesystem::remove(run.path() / "checkpoints");
  writer.start(parts_of(*state), 6);
  writer.publish();
  CHECK(resumable_checkpoints(run.path()) == std::vector<int>{6});
}

TEST_CASE_FIXTURE(DeviceRun, "diagnostics run on the device and change no bit of the run") {
  config["rollout"].update({{"groups", 3}, {"slots", 6}});
  CHECK(train() == 0);
  const auto without = weights("000002"), state_without = state("000002");
  remove_checkpoints();
  config["diagnostics"].update({{"every", 1}, {"samples", 6}});
  CHECK(train() == 0);
  CHECK(weights("000002") == without);
  CHECK(state("000002") == state_without);
  for (const char* name : {"diagnostics/mutual_information", "diagnostics/grad_norm_high_std"})
    CHECK(metrics().contains(name));
  CHECK(metrics().at("diagnostics/kl_from_start") > 0);
  check_that_resuming_changes_no_bit("000002");
}

TEST_CASE_FIXTURE(DeviceRun, "fast mode keeps log-probabilities close to the rollout's and resumes bit-identically") {
  config["exactness"] = "fast";
  config["precision"] = "bf16";
  config["optimizer"]["recompute"] = "block";
  CHECK(train() == 0);
  CHECK(metrics().at("rollout/logprob_gap_max") < 0.1);
  check_that_resuming_changes_no_bit("000002");
}

TEST_CASE_FIXTURE(DeviceRun, "a warm start learns the same on CPU and GPU and can resume on the other device") {
  config["task"] = "warm_start";
  config["warm_start"].update({{"steps_per_iteration", 1}, {"batch", 2}});
  config["device"] = "cpu";
  CHECK(train() == 0);
  const auto expected = final_weights();
  for (const auto& [first, second] :
       {std::pair<std::string, std::string>{"cuda", "cuda"}, {"cpu", "cuda"}, {"cuda", "cpu"}}) {
    CAPTURE(first);
    CAPTURE(second);
    remove_checkpoints();
    config["iterations"] = 1;
    config["device"] = first;
    CHECK(train() == 0);
    config["iterations"] = 2;
    config["device"] = second;
    CHECK(train() == 0);
    CHECK(events("started").back().at("device") == (second == "cpu" ? "cpu" : "cuda:0"));
    CHECK(events("started").back().at("resume").at("iteration") == 1);
    CHECK(metrics().at("warm_start/loss") > 0);
    CHECK(cuda::normalized_mean_square_error(final_weights(), expected) < 1e-6);
  }
}

TEST_CASE_FIXTURE(DeviceRun, "a run can resume on another device with moments and critic") {
  config["advantage"]["estimator"] = "gae";
  config["critic"]["model"] = "full";
  config["iterations"] = 1;
  const std::vector<std::string> devices{"cpu", "cuda", "cpu"};
  for (int i = 0; i < 3; ++i) {
    config["device"] = devices[i];
    config["iterations"] = i + 1;
    CHECK(train() == 0);
  }
  CHECK(listed("checkpoint", "path") ==
        "0 checkpoints/000000, 1 checkpoints/000001, 2 checkpoints/000002, 3 checkpoints/000003");
  for (const auto& event : events("iteration")) check_exact(event.at("metrics"));
}

TEST_CASE_FIXTURE(DeviceRun, "an evaluation of a checkpoint on the device equals the run's own") {
  config["iterations"] = 1;
  CHECK(train() == 0);
  EvaluationRequest request;
  request.checkpoint = 1;
  const auto plan = plan_evaluation(run.path(), request);
  const auto evaluate = [&] { return json::parse(evaluate_checkpoint(run.path(), 1, plan, [](int, int) {})); };
  const json result = evaluate();
  CHECK(result.at("isa") == "sm_90");
  json logged = events("evaluation").back().at("metrics");
  logged.erase("time/evaluation");
  for (const auto& [name, value] : logged.items()) CHECK(result.at("metrics").at(name) == value);

  // A missing capability of the machine is not reported as a damaged checkpoint.
  std::filesystem::remove_all(run.path() / "evaluations");
  {
    const cuda::emulated::FailAfter gone(100, cuda::emulated::Failure::device);
    CHECK(error_code_of(evaluate) == "gpu_failed");
  }
  cuda::emulated::set_device_memory(1 << 20);
  CHECK(error_code_of(evaluate) == "gpu_out_of_memory");
  cuda::emulated::set_device_memory(cuda::emulated::kDefaultDeviceMemory);
}

TEST_CASE_FIXTURE(DeviceRun, "the worst-case step before a run doesn't change the run") {
  config["advantage"]["estimator"] = "gae";
  config["critic"]["model"] = "full";
  config["kl"].update({{"coefficient", 0.1}, {"estimator", "k3"}, {"placement", "loss"}});
  config["rollout"].update({{"groups", 3}, {"group_size", 4}, {"slots", 12}});  // steps of two sizes
  config["policy_loss"]["mini_batch"] = 4;
  config["environments"][0]["max_turns"] = 1;
  const RunConfig run_config = parse_run_config(config.dump());
  const auto state = tiny_state(run_config, model.path());
  state->replica.critic->initialize_from(*state->replica.policy);
  copy_weights(*state->replica.policy, *state->replica.reference);
  const auto specs = training_episodes(run_config, 1);
  const auto play = [&] {
    return run_rollout(*state->replica.generator, {specs,
                                                   state->playground.rules,
                                                   state->playground.prototypes,
                                                   {},
                                                   {run_config.seed, RandomStream::train_sampling},
                                                   1,
                                                   {}});
  };
  const auto full_state = [&] {
    std::vector<std::vector<float>> values;
    for (Trainable* each : {&state->replica.policy->trained(), &state->replica.critic->trained()})
      for (const StateVector which : {StateVector::weights, StateVector::first_moment, StateVector::second_moment})
        values.push_back(state_of(*each, which));
    return values;
  };

  const auto episodes = play();
  const auto before = full_state();
  std::vector<int> progress;
  dry_step(run_config, state->replica, state->playground.chat.stop_ids(), [&](int done, int total) {
    CHECK(total == 3);
    progress.push_back(done);
  });
  CHECK(progress == std::vector<int>{0, 1, 2, 3});
  CHECK(full_state() == before);
  const auto again = play();
  for (std::size_t i = 0; i < episodes.size(); ++i)
    for (std::size_t turn = 0; turn < episodes[i].turns.size(); ++turn) {
      CHECK(again[i].turns.at(turn).ids == episodes[i].turns[turn].ids);
      CHECK(again[i].turns[turn].logprobs == episodes[i].turns[turn].logprobs);
    }
  // Gradients are cleared, so a step without new gradients changes no weights.
  AdamWSettings settings{1e-2f, 0.9f, 0.999f, 1e-8f, 0, 0};
  CHECK(take_step(state->replica.policy->trained(), settings).gradient_norm == 0);
  CHECK(take_step(state->replica.critic->trained(), settings).gradient_norm == 0);
  CHECK(full_state() == before);
}

TEST_CASE_FIXTURE(
    DeviceRun,
    "a device failure ends the run with its code and a valid checkpoint, from which it resumes bit-identically") {
  using cuda::emulated::Failure;
  const auto calls_before = cuda::emulated::device_calls();
  CHECK(train() == 0);
  const auto calls = cuda::emulated::device_calls() - calls_before;
  const auto expected = weights("000002");
  for (const auto& [part, kind, code] :
       {std::tuple{1.0, Failure::device, "gpu_failed"}, {0.6, Failure::out_of_memory, "gpu_out_of_memory"}}) {
    CAPTURE(part);
    remove_checkpoints();
    {
      const cuda::emulated::FailAfter failing(static_cast<std::int64_t>(part * static_cast<double>(calls)) - 1,
                                              kind);  // the last call belongs to the last checkpoint
      CHECK(train() == 1);
    }
    CHECK(failure_code() == code);
    CHECK_FALSE(events("failed").back().at("hint").get<std::string>().empty());
    const std::string journal = read_text(run.path() / "events.jsonl");
    CHECK(json::parse(journal.substr(journal.rfind('\n', journal.size() - 2) + 1)).at("type") == "failed");
    CHECK(resumable_checkpoints(run.path()).size() >= 1);
    for (const auto& entry : std::filesystem::directory_iterator(run.path() / "checkpoints"))
      CHECK(entry.path().filename().string().size() == 6);  // no partially written checkpoint
    CHECK(train() == 0);
    CHECK(events("started").back().at("resume").is_object());
    CHECK(weights("000002") == expected);
  }
}

TEST_CASE_FIXTURE(DeviceRun, "a device failure at the start ends the run before its first evaluation") {
  using cuda::emulated::Failure;
  for (const auto& [kind, code] :
       {std::pair{Failure::out_of_memory, "gpu_out_of_memory"}, {Failure::device, "gpu_failed"}}) {
    const cuda::emulated::FailAfter failing(60, kind);  // while the worst-case step runs
    CHECK(train() == 1);
    CHECK(failure_code() == code);
    CHECK(events("phase").back().at("name") == "load");
    CHECK(events("phase").back().at("total") == 3);
    CHECK(events("evaluation").empty());
    CHECK(resumable_checkpoints(run.path()).empty());
  }
  CHECK(train() == 0);
}

TEST_CASE_FIXTURE(DeviceRun, "a checkpoint that the device can't load is not reported as damaged") {
  config["iterations"] = 1;
  CHECK(train() == 0);
  config["iterations"] = 2;
  cuda::emulated::set_device_memory(1 << 20);
  CHECK(train() == 1);
  cuda::emulated::set_device_memory(cuda::emulated::kDefaultDeviceMemory);
  CHECK(failure_code() == "gpu_out_of_memory");
  for (const int calls : {1, 10}) {
    const cuda::emulated::FailAfter failing(calls, cuda::emulated::Failure::device);
    CHECK(train() == 1);
    CHECK(failure_code() == "gpu_failed");
  }
  CHECK(train() == 0);
  CHECK(events("started").back().at("resume").at("iteration") == 1);
}

TEST_CASE_FIXTURE(DeviceRun, "skipping a damaged checkpoint does not double the memory") {
  CHECK(train() == 0);
  const auto whole = weights("000002");
  write_text(run.path() / "checkpoints/000002/model.safetensors", whole.substr(0, whole.size() / 2));
  cuda::emulated::set_device_memory(events("memory_plan").back().at("total_bytes").get<std::size_t>() * 5 / 4);
  CHECK(train() == 0);
  cuda::emulated::set_device_memory(cuda::emulated::kDefaultDeviceMemory);
  CHECK(events("started").back().at("resume").at("iteration") == 1);
  CHECK(weights("000002") == whole);
}

TEST_CASE_FIXTURE(DeviceRun, "non-finite numbers have the same codes on CPU and GPU") {
  const auto code_of = [&](const auto& spoil) {
    const auto run_config = parse_run_config(config.dump());
    const auto state = tiny_state(run_config, model.path());
    const auto specs = training_episodes(run_config, 1);
    return error_code_of([&] {
      const auto roll_out = [&] {
        return run_rollout(*state->replica.generator, {specs,
                                                       state->playground.rules,
                                                       state->playground.prototypes,
                                                       {},
                                                       {run_config.seed, RandomStream::train_sampling},
                                                       1,
                                                       {}});
      };
      spoil(run_config, state->replica, roll_out);
    });
  };
  const auto update_with = [](double advantage) {
    return [advantage](const RunConfig& config, Replica& replica, const auto& roll_out) {
      const std::vector<Episode> episodes = roll_out();
      std::vector<Sequence> sequences;
      for (const Episode& episode : episodes) {
        sequences.push_back(make_sequences(episode).front());
        sequences.back().advantages.assign(sequences.back().targets.size(), advantage);
      }
      update_policy(config, replica, 1, sequences, [](int, int) {});
    };
  };
  const auto roll_out_with_nan = [](const RunConfig&, Replica& replica, const auto& roll_out) {
    change(replica.policy->trained(), StateVector::weights, 70, std::numeric_limits<float>::quiet_NaN());
    roll_out();
  };
  const auto step_from_infinity = [](RunConfig config, Replica& replica, const auto&) {
    change(replica.policy->trained(), StateVector::first_moment, 70, 3e38f);
    config.optimizer.learning_rate = 1e38;
    replica.policy->trained().clear_gradients();
    optimizer_step(config, replica.policy->trained(), 1);
  };
  for (const std::string device : {"cpu", "cuda"})
    for (const std::string precision : {"fp32", "bf16"}) {
      if (device == "cpu" && precision == "bf16") continue;  // not every CPU has bf16 instructions
      CAPTURE(device);
      CAPTURE(precision);
      config["device"] = device;
      config["precision"] = precision;
      CHECK(code_of(roll_out_with_nan) == "non_finite_logprob");
      CHECK(code_of(update_with(std::numeric_limits<double>::quiet_NaN())) == "non_finite_loss");
      CHECK(code_of(update_with(1e300)) == "non_finite_gradient");
      CHECK(code_of(update_with(1)) == "none");
      CHECK(code_of(step_from_infinity) == "non_finite_weight");
    }
}
