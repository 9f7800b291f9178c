#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "cuda/emulated/failure.h"
#include "cuda/emulated/memory.h"
#include "engine/engine.h"
#include "error_code.h"
#include "model_fixtures.h"
#include "tiny_run.h"
#include "train/checkpoint.h"
#include "train/dry_step.h"
#include "train/engine_needs.h"
#include "train/evaluate_checkpoint.h"
#include "train/levels.h"
#include "train/training_run.h"

using namespace starpo;
using namespace starpo::test;
using nlohmann::json;

namespace {

// Whole runs on the emulated GPU: few tokens, since each thread of each kernel is a fiber.
struct DeviceRun : TinyRun {
  DeviceRun() {
    config["device"] = "cuda";
    config["rollout"].update({{"groups", 2}, {"group_size", 2}, {"slots", 3}, {"max_response_tokens", 4}, {"context", 96}});
    config["environments"][0]["config"]["size"] = 2;
    config["environments"][0]["max_turns"] = 2;
    config["optimizer"]["micro_batch_tokens"] = 128;
    config["policy_loss"]["mini_batch"] = 2;
    config["evaluation"]["levels"] = 1;
    config["checkpoint"]["every"] = 1;
  }

  json metrics() const { return events("iteration").back().at("metrics"); }
  std::string state(const std::string& checkpoint) const { return read_text(run.path() / "checkpoints" / checkpoint / "trainer-state.safetensors"); }

  // Weights, moments and critic of the last iteration again, after it is taken back and a new process goes on from the one before.
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
  for (const char* name : {"rollout/logprob_gap", "rollout/logprob_gap_max", "rollout/logprob_gap_kl"}) CHECK(metrics.at(name) == 0);
  CHECK(metrics.at("actor/grad_norm") > 0);
}

}  // namespace

TEST_CASE_FIXTURE(DeviceRun, "a run on a GPU tells its device and memory plan, is exact, and resumes to the same bits") {
  for (const char* precision : {"fp32", "bf16"}) {
    CAPTURE(precision);
    config["precision"] = precision;
    std::filesystem::remove_all(run.path() / "checkpoints");
    CHECK(train() == 0);
    CHECK(events("started").back().at("device") == "cuda:0");
    CHECK(events("started").back().at("isa") == "sm_90");
    const json plan = events("memory_plan").back();
    CHECK(plan.at("device") == "cuda:0");
    CHECK(plan.at("total_bytes") > 0);
    CHECK(plan.at("total_bytes") <= plan.at("free_bytes"));
    check_exact(metrics());
    check_that_resuming_changes_no_bit("000002");
  }
}
