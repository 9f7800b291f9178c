#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "engine/cpu/kernels/bf16_kernels.h"
#include "model_fixtures.h"
#include "tiny_policy.h"
#include "tiny_run.h"
#include "train/run/storage.h"
#include "train/run/train.h"
#include "train/run/training_run.h"
#include "train/warm_start/warm_start.h"

using namespace starpo;
using namespace starpo::test;
using nlohmann::json;

TEST_CASE_FIXTURE(TinyRun, "an iteration is logged after its episodes, whose files are complete") {
  REQUIRE(train() == 0);
  std::vector<json> written;
  for (const auto& event : events("rollout"))
    if (event.at("split") == "train") written.push_back(event);
  const auto iterations = events("iteration");
  REQUIRE(written.size() == iterations.size());
  for (std::size_t i = 0; i < written.size(); ++i) {
    CHECK(written[i].at("seq") < iterations[i].at("seq"));
    if (i > 0) CHECK(written[i].at("seq") > iterations[i - 1].at("seq"));
    CHECK(std::filesystem::exists(run.path() / written[i].at("file").get<std::string>()));
    const auto& metrics = iterations[i].at("metrics");
    CHECK(metrics.at("time/write").get<double>() > 0);
    CHECK(metrics.at("time/rollout").get<double>() + metrics.at("time/update").get<double>() <=
          metrics.at("time/iteration").get<double>());
  }
}

TEST_CASE_FIXTURE(TinyRun, "the episodes of a failed update are written and logged before the failure") {
  config["iterations"] = 1;
  REQUIRE(train() == 0);
  {
    // With this moment, any step is too large.
    const RunConfig run_config = parse_run_config(config.dump());
    TrainerState state(run_config, run.path() / "checkpoints/000001");
    load_checkpoint(run.path(), 1, run_config.seed, state.replica);
    change(state.replica.policy->trained(), StateVector::first_moment, 70, 3e38f);
    Journal journal(run.path());
    write_checkpoint(run.path(), parts_of(state), 1, journal);
  }
  config["iterations"] = 2;
  CHECK(train() == 1);
  CHECK(listed("failed", "code") == "2 non_finite_weight");
  const auto rollout = events("rollout").back();
  CHECK(rollout.at("iteration") == 2);
  CHECK(rollout.at("split") == "train");
  CHECK(rollout.at("seq") < events("failed").back().at("seq"));
  for (const char* file : {"file", "index"})
    CHECK(std::filesystem::exists(run.path() / rollout.at(file).get<std::string>()));
}

TEST_CASE_FIXTURE(TinyRun, "a run fails if its episodes can't be written") {
  config["environments"][0]["validate"] = false;
  write_text(run.path() / "rollouts", "in the way");
  CHECK(train() == 1);
  CHECK(events("failed").size() == 1);
  CHECK(listed("iteration", "type") == "");
}

TEST_CASE_FIXTURE(TinyRun,
                  "a run evaluates and writes checkpoints at its start and end, and does nothing when started again") {
  json bandit = config["environments"][0];
  bandit.update(json{{"label", "bandit"},
                     {"type", "bandit"},
                     {"config",
                      {{"lo_arm_name", "Phoenix"},
                       {"hi_arm_name", "Dragon"},
                       {"lo_arm_score", 0.1},
                       {"hi_arm_loscore", 0},
                       {"hi_arm_hiscore", 1},
                       {"hi_arm_hiscore_prob", 0.25}}},
                     {"share", 0.5},
                     {"prompt", {{"system", ""}, {"first", "{arm_1} or {arm_2}?"}, {"next", "{state}"}}}});
  config["environments"].push_back(bandit);
  CHECK(train() == 0);
  CHECK(listed("evaluation", "label") == "0 frozen-lake, 0 bandit, 2 frozen-lake, 2 bandit");
  for (const auto& evaluation : events("evaluation")) {
    CHECK(evaluation.at("metrics").at("time/evaluation") > 0);
    for (const auto& written : events("rollout")) {
      if (written.at("split") != evaluation.at("label") || written.at("iteration") != evaluation.at("iteration"))
        continue;
      CHECK(written.at("seq").get<int>() + 1 == evaluation.at("seq").get<int>());
      CHECK(written.at("episodes") == 3);
      CHECK(std::filesystem::exists(run.path() / written.at("index").get<std::string>()));
    }
  }
  CHECK(listed("rollout", "split") == "0 frozen-lake, 0 bandit, 1 train, 2 train, 2 frozen-lake, 2 bandit");
  CHECK(listed("checkpoint", "path") == "0 checkpoints/000000, 2 checkpoints/000002");
  CHECK(listed("stopped", "reason") == "2 completed");
  CHECK(events("iteration").size() == 2);

  CHECK(train() == 0);
  CHECK(events("started").back().at("resume") == json{{"checkpoint", "checkpoints/000002"}, {"iteration", 2}});
  CHECK(events("iteration").size() == 2);
  CHECK(events("evaluation").size() == 4);
  CHECK(listed("stopped", "reason") == "2 completed, 2 completed");
}

TEST_CASE_FIXTURE(TinyRun, "a pause can write a checkpoint of the last iteration, and a run can resume from it") {
  config["iterations"] = 100'000;
  const auto name = [](int iteration) { return std::filesystem::path(checkpoint_path(iteration)).filename().string(); };
  write_text(run.path() / "events.jsonl", "");
  const auto send = [&](const char* command) {
    append_text(run.path() / "control.jsonl", json{{"v", 1}, {"id", command}, {"command", command}}.dump() + "\n");
  };
  const auto wait_until = [&](auto&& found) {
    while (!found()) std::this_thread::yield();
  };
  int held = 0;
  std::thread user([&] {
    // If the pause falls into the update, request it again.
    for (std::size_t pauses = 1; held == 0; ++pauses) {
      wait_until([&] { return events("iteration").size() >= pauses; });
      send("pause");
      wait_until([&] { return events("paused").size() == pauses; });
      const auto iteration = events("iteration").size(), answers = events("acknowledged").size();
      send("checkpoint");
      wait_until([&] { return events("acknowledged").size() > answers; });
      const auto message = events("acknowledged").back().at("message").get<std::string>();
      if (message.ends_with("is being written")) {
        wait_until([&] { return events("checkpoint").back().at("iteration") == iteration; });
        held = static_cast<int>(iteration);
      }
      send("resume");
      wait_until([&] { return events("resumed").size() == pauses; });
    }
    send("stop");
  });
  CHECK(train() == 0);
  user.join();
  CHECK(std::filesystem::exists(run.path() / checkpoint_path(held) / "trainer-state.json"));
  const int reached = events("stopped").back().at("iteration");

  // Resuming from it results in the same weights.
  const auto undisturbed = weights(name(reached));
  for (int later = held + 1; later <= reached; ++later)
    std::filesystem::remove_all(run.path() / checkpoint_path(later));
  config["iterations"] = reached;
  CHECK(train() == 0);
  CHECK(events("started").back().at("resume").at("iteration") == held);
  CHECK(weights(name(reached)) == undisturbed);
}

TEST_CASE_FIXTURE(TinyRun, "an iteration without kept groups makes no update") {
  config["filter"].update({{"strategy", "top_p"}, {"keep", 0.9}});
  config["rollout"]["max_response_tokens"] = 1;  // no valid response fits into one token, so all scores are equal
  CHECK(train() == 0);
  for (const auto& event : events("iteration")) {
    CHECK(event.at("metrics").at("filter/kept_groups") == 0);
    CHECK_FALSE(event.at("metrics").contains("actor/loss"));
    CHECK(event.at("updates").empty());
  }
  CHECK(weights("000002") == weights("000000"));
}

TEST_CASE_FIXTURE(TinyRun, "groups of one, a mini-batch larger than the batch, and two epochs work") {
  config["rollout"]["group_size"] = 1;
  config["policy_loss"].update({{"mini_batch", 64}, {"epochs", 2}});
  CHECK(train() == 0);
  for (const auto& event : events("iteration")) {
    CHECK(event.at("updates").at("actor/grad_norm").size() == 2);
    CHECK(event.at("metrics").at("filter/kept_groups") == 3);
    CHECK_FALSE(event.at("metrics").contains("rollout/reward_std_in_group"));
    CHECK_FALSE(event.at("metrics").contains("rollout/zero_std_groups"));
  }
  CHECK(weights("000002") != weights("000000"));
}

TEST_CASE_FIXTURE(TinyRun,
                  "a damaged checkpoint is skipped with a warning, and repeated iterations give the same weights") {
  config["checkpoint"]["every"] = 1;
  CHECK(train() == 0);
  const auto whole = weights("000002");
  write_text(run.path() / "checkpoints/000002/model.safetensors", whole.substr(0, whole.size() / 2));
  CHECK(train() == 0);
  CHECK(events("started").back().at("resume").at("iteration") == 1);
  CHECK(events("log").back().at("message").get<std::string>().find("000002") != std::string::npos);
  CHECK(weights("000002") == whole);
}

TEST_CASE_FIXTURE(TinyRun, "a run with critic and KL term resumes identically without its initial model folder") {
  config["checkpoint"]["every"] = 1;
  config["iterations"] = 3;
  config["advantage"].update({{"estimator", "gae"}, {"lambda", 0.95}, {"whiten", true}});
  config["kl"].update({{"coefficient", 0.1}, {"estimator", "k3"}});
  for (const char* critic : {"full", "head"})
    for (const char* placement : {"reward", "loss"}) {
      CAPTURE(critic);
      CAPTURE(placement);
      config["critic"]["model"] = critic;
      config["kl"]["placement"] = placement;
      make_tiny_model_folder(model.path());
      std::filesystem::remove_all(run.path() / "checkpoints");
      std::filesystem::remove(run.path() / "events.jsonl");
      CHECK(train() == 0);
      const auto whole = weights("000003");
      std::filesystem::remove_all(model.path());
      std::filesystem::remove_all(run.path() / "checkpoints/000003");
      CHECK(train() == 0);
      CHECK(events("started").back().at("resume").at("iteration") == 2);
      CHECK(weights("000003") == whole);
      const auto metrics = events("iteration").back().at("metrics");
      for (const char* name : {"critic/loss", "critic/grad_norm", "critic/value_mean", "actor/kl_to_reference"})
        CHECK(metrics.contains(name));
      CHECK(metrics.at("actor/kl_to_reference") > 0);
      CHECK(events("iteration").back().at("updates").at("critic/grad_norm").size() == 3);
    }
}

TEST_CASE_FIXTURE(TinyRun, "a run with extra rounds and replay resumes identically, and refuses a changed buffer") {
  config["iterations"] = 4;
  config["checkpoint"].update({{"every", 1}, {"keep", 2}});
  config["rollout"]["extra_rounds"] = 1;
  config["replay"] = {{"iterations", 2}, {"share", 0.5}};
  config["reward"]["length_cost"] = 1;  // so that rewards differ
  config["policy_loss"]["mini_batch"] = 64;
  CHECK(train() == 0);
  const auto iterations = events("iteration");
  CHECK_FALSE(iterations[0].at("metrics").contains("replay/staleness"));
  CHECK(iterations[0].at("metrics").at("replay/share") == 0);
  CHECK(iterations[0].at("metrics").at("actor/ratio_max") == 1);
  for (std::size_t i = 1; i < 4; ++i) {
    const auto& metrics = iterations[i].at("metrics");
    CHECK(metrics.at("replay/share") == 0.5);
    CHECK(metrics.at("replay/staleness") >= 1);
    CHECK(metrics.at("replay/staleness") <= 2);
    // One optimizer step, so only replayed tokens have other ratios, and the rollout's gap is still 0.
    CHECK(metrics.at("actor/ratio_max") > 1);
    CHECK(metrics.at("rollout/logprob_gap_max") == 0);
    // In this run, some rounds have groups of equal responses.
    CHECK(metrics.at("rollout/rounds") == events("rollout")[i + 1].at("episodes").get<int>() / 12);
  }
  const auto checkpoints = run.path() / "checkpoints";
  CHECK_FALSE(std::filesystem::exists(checkpoints / "000002/replay.cbor"));
  const auto whole = weights("000004"), buffer = read_text(checkpoints / "000004/replay.cbor");
  std::filesystem::remove_all(checkpoints / "000004");
  CHECK(train() == 0);
  CHECK(weights("000004") == whole);
  CHECK(read_text(checkpoints / "000004/replay.cbor") == buffer);

  std::string changed = read_text(checkpoints / "000003/replay.cbor");
  changed[changed.size() / 2] ^= 1;
  write_text(checkpoints / "000003/replay.cbor", changed);
  std::filesystem::remove_all(checkpoints / "000004");
  CHECK(train() == 1);
  CHECK(events("failed").back().at("code") == "checkpoint_corrupt");
  CHECK(events("failed").back().at("message").get<std::string>().find("replay.cbor is missing or was changed") !=
        std::string::npos);
}

TEST_CASE_FIXTURE(TinyRun, "a policy that does not change gives replayed tokens a ratio of exactly 1") {
  config["optimizer"]["learning_rate"] = 0;
  config["replay"] = {{"iterations", 1}, {"share", 0.5}};
  config["reward"]["length_cost"] = 1;
  CHECK(train() == 0);
  const auto metrics = events("iteration").back().at("metrics");
  CHECK(metrics.at("replay/share") == 0.5);
  CHECK(metrics.at("actor/ratio_max") == 1);
}

TEST_CASE_FIXTURE(TinyRun, "extra rounds are played up to the limit while no group has a reward std") {
  config["rollout"].update(
      {{"extra_rounds", 2}, {"max_response_tokens", 1}});  // no valid response, so scores are equal
  config["iterations"] = 1;
  CHECK(train() == 0);
  const auto metrics = events("iteration").back().at("metrics");
  CHECK(metrics.at("rollout/rounds") == 3);
  CHECK(metrics.at("filter/kept_groups") == 3);
  std::set<std::string> ids;
  std::set<int> groups;
  for (const auto& event : events("rollout")) {
    if (event.at("split") != "train") continue;
    CHECK(event.at("episodes") == 36);
    const auto index = json::parse(read_text(run.path() / event.at("index").get<std::string>()));
    for (const json& episode : index.at("episodes")) {
      ids.insert(episode.at("id").get<std::string>());
      groups.insert(episode.at("group").get<int>());
    }
  }
  CHECK(ids.size() == 36);
  CHECK(groups == std::set{0, 1, 2, 3, 4, 5, 6, 7, 8});
}

TEST_CASE_FIXTURE(TinyRun, "the policy does not change while the critic warms up") {
  config["iterations"] = 1;
  config["advantage"]["estimator"] = "gae";
  for (const char* critic : {"full", "head"}) {
    CAPTURE(critic);
    config["critic"].update({{"model", critic}, {"warmup", 1}});
    std::filesystem::remove_all(run.path() / "checkpoints");
    std::filesystem::remove(run.path() / "events.jsonl");
    CHECK(train() == 0);
    CHECK(weights("000001") == weights("000000"));
    const auto metrics = events("iteration").back().at("metrics");
    CHECK(metrics.at("critic/grad_norm") > 0);
    CHECK_FALSE(metrics.contains("actor/loss"));
  }
}

TEST_CASE_FIXTURE(TinyRun, "a custom reference model is used") {
  TemporaryFolder other;
  make_tiny_model_folder(other.path(), 4);
  config["iterations"] = 1;
  config["kl"].update({{"coefficient", 0.1}, {"estimator", "k3"}, {"reference", other.path().string()}});
  CHECK(train() == 0);
  CHECK(events("iteration").back().at("metrics").at("actor/kl_to_reference") >
        0);  // with the initial weights as reference it would be 0
}

TEST_CASE_FIXTURE(TinyRun,
                  "without the weights of the first checkpoint, the reference is read from the initial model") {
  config["iterations"] = 1;
  config["kl"].update({{"coefficient", 0.1}, {"estimator", "k3"}});
  CHECK(train() == 0);
  std::filesystem::remove(run.path() / "checkpoints/000000/model.safetensors");
  CHECK(train() == 0);
}

TEST_CASE_FIXTURE(
    TinyRun, "a bf16 run reports its instruction set, and an unsupported CPU is not reported as a damaged checkpoint") {
  config["iterations"] = 1;
  CHECK(train() == 0);
  config["precision"] = "bf16";
  if (bf16_kernels() != nullptr) {
    CHECK(train() == 0);
    CHECK(events("started").back().at("isa") == bf16_kernels_name());
  }
  const WithIsa scalar(Isa::scalar);
  CHECK(train() == 1);
  CHECK(listed("failed", "code") == "0 precision_unsupported");
}

TEST_CASE_FIXTURE(TinyRun, "a checkpoint that a killed trainer could not log is logged by the next trainer") {
  CHECK(train() == 0);
  const auto journal = read_text(run.path() / "events.jsonl");
  const auto end = journal.rfind("\n", journal.rfind("\"type\":\"checkpoint\"")) + 1;
  write_text(run.path() / "events.jsonl", journal.substr(0, end));
  CHECK(listed("checkpoint", "path") == "0 checkpoints/000000");
  for (int resumed = 0; resumed < 2; ++resumed) {
    CHECK(train() == 0);
    CHECK(listed("checkpoint", "path") == "0 checkpoints/000000, 2 checkpoints/000002");
  }
}

TEST_CASE_FIXTURE(TinyRun, "a run whose levels changed keeps its weights, and is evaluated before it trains further") {
  REQUIRE(train() == 0);
  const auto panel = run.path() / "panels/frozen-lake.json";
  const std::string levels = read_text(panel);
  write_text(panel, "other levels");
  config["iterations"] = 3;
  CHECK(train() == 1);
  CHECK(events("checkpoint").back().at("iteration") == 3);
  config["iterations"] = 4;
  config["evaluation"]["every"] = 3;
  CHECK(train() == 1);
  CHECK(listed("failed", "code") == "3 panel_changed, 3 panel_changed");
  CHECK(events("iteration").size() == 3);
  write_text(panel, levels);
  CHECK(train() == 0);
  CHECK(listed("evaluation", "label") == "0 frozen-lake, 2 frozen-lake, 3 frozen-lake, 4 frozen-lake");
  CHECK(train() == 0);
  CHECK(events("evaluation").size() == 4);
}

TEST_CASE_FIXTURE(TinyRun, "a run without optimizer state is never started over") {
  config["checkpoint"]["every"] = 1;
  CHECK(train() == 0);
  config["iterations"] = 3;
  const auto checkpoints = run.path() / "checkpoints";
  const std::string before = weights("000001");

  SUBCASE("some checkpoints have weights") {
    for (const auto& each : std::filesystem::directory_iterator(checkpoints))
      std::filesystem::remove(each.path() / "trainer-state.safetensors");
    CHECK(train() == 1);
    CHECK(events("failed").at(0).at("hint") ==
          "fork from checkpoint 2 with a new optimizer, or start a new run with the same configuration");
    CHECK(weights("000001") == before);
  }
  SUBCASE("no checkpoint") {
    std::filesystem::remove_all(checkpoints);
    CHECK(train() == 1);
    CHECK(events("failed").at(0).at("hint") == "start a new run with the same configuration");
    CHECK_FALSE(std::filesystem::exists(checkpoints));
  }
  SUBCASE("no journal") {
    for (const auto& each : std::filesystem::directory_iterator(checkpoints))
      std::filesystem::remove(each.path() / "trainer-state.safetensors");
    std::filesystem::remove(run.path() / "events.jsonl");
    CHECK(train() == 1);
    CHECK(weights("000001") == before);
  }
  CHECK(listed("failed", "code") == "2 run_not_resumable");
  CHECK(events("started").size() <= 1);
}

TEST_CASE_FIXTURE(TinyRun, "a run that resumes from an older checkpoint logs a warning") {
  config["checkpoint"].update({{"every", 1}, {"keep", 2}});
  CHECK(train() == 0);
  std::filesystem::remove(run.path() / "checkpoints/000002/trainer-state.safetensors");
  CHECK(train() == 0);
  CHECK(events("started").back().at("iteration") == 1);
  CHECK(events("log").at(0).at("message") ==
        "checkpoint 2 has no optimizer state, so training resumes from checkpoint 1");
}

TEST_CASE_FIXTURE(TinyRun, "a failed start reports the reason in the journal") {
  std::filesystem::remove(model.path() / "model.safetensors");
  CHECK(train() == 1);
  CHECK(listed("failed", "code") == "0 model_file_missing");
  CHECK_FALSE(events("failed").at(0).at("hint").get<std::string>().empty());
}

TEST_CASE_FIXTURE(TinyRun, "a warm start polls for commands after every micro-batch") {
  RunConfig warm = small_run_config();
  warm.warm_start.steps_per_iteration = 2;
  warm.warm_start.batch = 3;
  warm.optimizer.micro_batch_tokens = 1;  // one demonstration per micro-batch
  const auto state = tiny_state(warm, model.path());
  std::vector<int> steps_done;
  warm_start_iteration(warm, state->playground, state->replica, state->threads, 1, [&](int done, int total) {
    CHECK(total == 2);
    steps_done.push_back(done);
  });
  CHECK(steps_done == std::vector<int>{0, 0, 0, 1, 1, 1});
}

TEST_CASE_FIXTURE(TinyRun, "old training episodes are deleted; evaluations and every m-th iteration are kept") {
  config["iterations"] = 5;
  config["rollout"].update({{"groups", 1}, {"group_size", 2}, {"max_response_tokens", 2}});
  config["policy_loss"]["mini_batch"] = 2;
  config["evaluation"].update({{"every", 1}, {"levels", 1}});
  config["rollout_files"] = {{"keep_last", 1}, {"keep_every", 2}};
  CHECK(train() == 0);
  CHECK(listed("rollout_removed", "split") == "1 train, 3 train");
  const auto exists = [&](const std::string& name) { return std::filesystem::exists(run.path() / "rollouts" / name); };
  for (int iteration = 1; iteration <= 5; ++iteration) {
    const std::string number = "00000" + std::to_string(iteration);
    CHECK(exists(number + "-train.jsonl.zst") == (iteration != 1 && iteration != 3));
    CHECK(exists(number + "-train.index.json") == exists(number + "-train.jsonl.zst"));
    CHECK(exists(number + "-frozen-lake.jsonl.zst"));
  }

  // A deletion that was logged by a trainer that was killed before deleting the files.
  write_text(run.path() / "rollouts/000001-train.jsonl.zst", "left over");
  config["iterations"] = 6;
  CHECK(train() == 0);
  CHECK(listed("rollout_removed", "split") == "1 train, 3 train, 1 train, 5 train");
  CHECK(!exists("000001-train.jsonl.zst"));
}

TEST_CASE_FIXTURE(TinyRun, "a run warns before it exceeds its storage budget, and once after") {
  config["iterations"] = 1;
  config["checkpoint"]["keep"] = 100;
  CHECK(train() == 0);
  CHECK(events("log").empty());

  const auto used = static_cast<double>(folder_bytes(run.path()));
  config["iterations"] = 3;
  config["checkpoint"]["every"] = 1;
  // Allows one more checkpoint, but not two.
  const auto checkpoint = static_cast<double>(folder_bytes(run.path() / "checkpoints/000001"));
  config["storage"]["budget_gigabytes"] = (used + 1.5 * checkpoint) / 1e9;
  CHECK(train() == 0);
  std::vector<std::string> messages;
  for (const auto& event : events("log"))
    if (event.at("level") == "warning") messages.push_back(event.at("message"));
  REQUIRE(messages.size() == 2);
  CHECK(messages[0].find("the next checkpoint may exceed it") != std::string::npos);
  CHECK(messages[1].find("exceeds its storage budget") != std::string::npos);
}

TEST_CASE("an unavailable device fails the run before it starts") {
  TinyRun fixture;
  fixture.config["device"] = "cuda:99";
  CHECK(fixture.train() == 1);
  CHECK(fixture.events("started").empty());
  REQUIRE(fixture.events("failed").size() == 1);
  CHECK(fixture.events("failed")[0].at("code") == "device_unavailable");
}

TEST_CASE("a run reports its selected device") {
  TinyRun fixture;
  REQUIRE(fixture.train() == 0);
  const auto started = fixture.events("started").at(0);
  CHECK(started.at("device") == "cpu");
  CHECK_FALSE(started.at("device_name").get<std::string>().empty());
}

TEST_CASE("a benchmark run uses the given response lengths and writes no evaluation or checkpoint") {
  TinyRun fixture;
  write_text(fixture.run.path() / "run.json", fixture.config.dump());
  {
    Journal journal(fixture.run.path());
    TrainingRun run(fixture.run.path(), journal);
    run.load(parse_run_config(fixture.config.dump()));
    run.rehearse(3, [](const EpisodeSpec&, int turn) { return turn == 0 ? 2 : 3; });
  }
  const auto iterations = fixture.events("iteration");
  REQUIRE(iterations.size() == 3);
  for (const auto& iteration : iterations) {
    CHECK(iteration.at("metrics").at("rollout/turns") == 5);
    CHECK(iteration.at("metrics").at("rollout/response_tokens").get<double>() <= 2 + 4 * 3);
    CHECK(iteration.at("metrics").at("rollout/response_tokens").get<double>() >
          9);  // a random policy rarely ends a response before the limit
    CHECK(iteration.at("metrics").at("actor/grad_norm").get<double>() > 0);
  }
  CHECK(fixture.events("evaluation").empty());
  CHECK(fixture.events("checkpoint").empty());
}
