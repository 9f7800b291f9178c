#include <doctest/doctest.h>

#include <csignal>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "cli/commands.h"
#include "error_code.h"
#include "files/sha256.h"
#include "model_fixtures.h"
#include "tiny_policy.h"
#include "train/checkpoint/checkpoint.h"
#include "train/evaluation/evaluate_checkpoint.h"
#include "train/evaluation/evaluation_files.h"
#include "train/evaluation/panel.h"
#include "train/run/train.h"

using namespace starpo;
using namespace starpo::test;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

// A completed run of the tiny policy on two environments, with four groups of the lake and two of the bandit.
struct TwoEnvironments {
  TemporaryFolder model, run;

  TwoEnvironments() {
    make_tiny_model_folder(model.path());
    json config = json::parse(read_text(repository() / "docs/formats/examples/run.json"));
    config["start"]["model"] = model.path().string();
    config["iterations"] = 2;
    config["threads"] = 1;
    config["rollout"].update({{"groups", 6}, {"group_size", 2}, {"max_response_tokens", 12}, {"context", 300}});
    config["policy_loss"]["mini_batch"] = 2;
    config["evaluation"].update({{"every", 1}, {"levels", 5}});
    config["checkpoint"]["every"] = 1;
    json bandit = config["environments"][0];
    bandit.update(json{{"label", "arms"},
                       {"type", "bandit"},
                       {"config",
                        {{"lo_arm_name", "Phoenix"},
                         {"hi_arm_name", "Dragon"},
                         {"lo_arm_score", 0.1},
                         {"hi_arm_loscore", 0},
                         {"hi_arm_hiscore", 1},
                         {"hi_arm_hiscore_prob", 0.25}}},
                       {"share", 0.5},
                       {"noise", "independent"},
                       {"prompt", {{"system", ""}, {"first", "{arm_1} or {arm_2}?"}, {"next", "{state}"}}}});
    config["environments"].push_back(bandit);
    write_text(run.path() / "run.json", config.dump());
    CHECK(run_training(run.path()) == 0);
  }

  json evaluate(EvaluationRequest request) const {
    const auto plan = plan_evaluation(run.path(), request);
    return json::parse(evaluate_checkpoint(run.path(), request.checkpoint, plan, [](int, int) {}));
  }

  std::string text(const std::string& file) const { return read_text(run.path() / file); }
  json event(const std::string& type, int iteration, const std::string& label = "") const {
    std::istringstream lines(text("events.jsonl"));
    for (std::string line; std::getline(lines, line);)
      if (auto event = json::parse(line);
          event.at("type") == type && event.at("iteration") == iteration && event.value("label", "") == label)
        return event;
    return nullptr;
  }
};

std::set<std::string> files_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

std::set<std::string> metric_keys(const json& object) {
  std::set<std::string> names;
  for (const auto& [name, value] : object.items()) names.insert(name);
  return names;
}

}  // namespace

TEST_CASE_FIXTURE(TwoEnvironments,
                  "two environments train together: groups follow the shares, and each environment has metrics") {
  std::map<std::string, int> episodes;
  const json index = json::parse(text("rollouts/000001-train.index.json"));
  for (const auto& episode : index.at("episodes")) ++episodes[episode.at("environment").get<std::string>()];
  CHECK(episodes == std::map<std::string, int>{{"frozen-lake", 8}, {"arms", 4}});

  const json metrics = event("iteration", 1).at("metrics");
  const auto mean = [&](const char* name) {
    return (8 * metrics.at("rollout/frozen-lake/" + std::string(name)).get<double>() +
            4 * metrics.at("rollout/arms/" + std::string(name)).get<double>()) /
           12;
  };
  for (const char* name :
       {"success_rate", "reward_mean", "turns", "response_tokens", "reward_std_in_group", "pass_at_n"}) {
    CAPTURE(name);
    CHECK(mean(name) == doctest::Approx(metrics.at("rollout/" + std::string(name)).get<double>()));
  }
  CHECK(metrics.contains("rollout/logprob_gap"));
  CHECK_FALSE(metrics.contains("rollout/arms/logprob_gap"));
}

TEST_CASE_FIXTURE(TwoEnvironments, "a later evaluation equals the run's own byte for byte and changes no other file") {
  const auto journal = text("events.jsonl");
  for (const std::string label : {"frozen-lake", "arms"}) {
    CAPTURE(label);
    json own = event("evaluation", 1, label).at("metrics");
    own.erase("time/evaluation");
    for (const std::string name : {"first", "second"}) {
      const json result = evaluate({.checkpoint = 1, .label = label, .name = name + "-" + label});
      CHECK(result.at("metrics") == own);
      CHECK(text(result.at("file")) == text("rollouts/000001-" + label + ".jsonl.zst"));
      CHECK(text(result.at("index")) == text("rollouts/000001-" + label + ".index.json"));
      CHECK(result == json::parse(text("evaluations/" + name + "-" + label + ".json")));
      CHECK(text("evaluations/" + name + "-" + label + ".panel.json") == text("panels/" + label + ".json"));
      CHECK(result.at("panel") == event("evaluation", 1, label).at("panel"));
    }
  }
  CHECK(text("events.jsonl") == journal);
}

TEST_CASE_FIXTURE(TwoEnvironments, "every evaluation names the hash of the file with its levels") {
  for (const std::string label : {"frozen-lake", "arms"}) {
    CAPTURE(label);
    const std::string panel = text("panels/" + label + ".json");
    for (const int iteration : {0, 1, 2}) CHECK(event("evaluation", iteration, label).at("panel") == sha256(panel));
    const json levels = json::parse(panel).at("levels"),
               played = json::parse(text("rollouts/000001-" + label + ".index.json")).at("episodes");
    REQUIRE(levels.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) CHECK(levels[i].at("seed") == played[i].at("seed"));
  }
  const json lake = json::parse(text("panels/frozen-lake.json")), arms = json::parse(text("panels/arms.json"));
  CHECK(lake.at("levels")[0].at("initial").get<std::string>().find('P') != std::string::npos);
  CHECK(arms.at("levels")[0].at("arms").size() == 2);
  CHECK(arms.at("environment").at("noise") == "independent");
}

TEST_CASE("a panel has a shop's goals and the digest of its files, and the command of a program") {
  Episode episode;
  episode.spec.seed = 7;
  episode.initial = R"({"kind":"index","goal":{"asin":"B1","price":9.5,"price_cap":20.0}})";
  const Episode* const played[] = {&episode};
  EnvironmentConfig shop;
  shop.type = "webshop";
  shop.config = R"({"catalogue":"/data","price_seed":3})";
  const auto panel = [&](const std::string& digest) { return json::parse(panel_of(shop, digest, played)); };
  CHECK(panel("").at("environment") ==
        json{{"type", "webshop"}, {"config", {{"catalogue", "/data"}, {"price_seed", 3}}}, {"noise", "shared"}});
  CHECK(panel("abc").at("environment") ==
        json{{"type", "webshop"}, {"config", {{"price_seed", 3}}}, {"noise", "shared"}, {"files_sha256", "abc"}});
  CHECK(panel("").at("levels") == json::array({{{"seed", 7}, {"initial", json::parse(episode.initial)}}}));
  shop.type = "process";
  shop.config = R"({"command":"cat","directory":"/here","processes":2})";
  CHECK(panel("").at("environment").at("config") == json{{"command", "cat"}});
  CHECK(panel("").at("levels") == json::array({{{"seed", 7}}}));
}

TEST_CASE("a run evaluates on the same levels, or fails") {
  TemporaryFolder run;
  const std::string hash = record_panel(run.path(), "lake", "a");
  CHECK(hash == sha256("a"));
  CHECK(record_panel(run.path(), "lake", "a") == hash);
  CHECK(record_panel(run.path(), "other", "b") == sha256("b"));
  CHECK(error_code_of([&] { record_panel(run.path(), "lake", "b"); }) == "panel_changed");
  CHECK(read_text(run.path() / "panels/lake.json") == "a");
}

TEST_CASE_FIXTURE(TwoEnvironments, "levels, temperature, seed and environment can be overridden") {
  const json plain = evaluate({.checkpoint = 2});
  CHECK(plain.at("name") == "000002-frozen-lake");

  const json fewer = evaluate({.checkpoint = 2, .levels = 2, .seed = 124, .name = "fewer"});
  const json shifted = json::parse(text(fewer.at("index"))).at("episodes"),
             all = json::parse(text(plain.at("index"))).at("episodes");
  CHECK(shifted.size() == 2);
  CHECK(shifted[0].at("seed") == all[1].at("seed"));

  json environment = json::parse(text("run.json"))["environments"][0];
  environment["config"]["size"] = 5;
  const json larger =
      evaluate({.checkpoint = 2, .environment = environment.dump(), .temperature = 1.5, .name = "larger"});
  CHECK(larger.at("environment").at("config").at("size") == 5);
  CHECK(larger.at("temperature") == 1.5);
  environment["label"] = "unseen";
  CHECK(evaluate({.checkpoint = 2, .environment = environment.dump()}).at("name") == "000002-unseen");

  environment["config"]["size"] = 99;
  CHECK(error_code_of([&] { evaluate({.checkpoint = 2, .environment = environment.dump()}); }) == "config_invalid");
  CHECK(error_code_of([&] { evaluate({.checkpoint = 2, .environment = "{"}); }) == "config_invalid");
  CHECK(error_code_of([&] { evaluate({.checkpoint = 2, .temperature = 99}); }) == "config_invalid");
  CHECK(error_code_of([&] { evaluate({.checkpoint = 2, .label = "nowhere"}); }) == "environment_unknown");
}

TEST_CASE_FIXTURE(TwoEnvironments, "top-p, top-k and min-p truncate the distribution and are recorded") {
  const auto at_half = [&](EvaluationRequest request) {
    request.checkpoint = 2;
    request.temperature = 0.5;
    return evaluate(request);
  };
  const auto sampling = [](const json& result) {
    return json::array({result.at("top_p"), result.at("top_k"), result.at("min_p")});
  };
  const json whole = at_half({.name = "whole"}), greedy = at_half({.top_k = 1, .name = "top-k"}),
             nucleus = at_half({.top_p = 0.01, .name = "top-p"}), likely = at_half({.min_p = 1, .name = "min-p"});
  CHECK(sampling(whole) == json{1, 0, 0});
  CHECK(sampling(greedy) == json{1, 1, 0});
  CHECK(sampling(nucleus) == json{0.01, 0, 0});
  CHECK(sampling(likely) == json{1, 0, 1});
  // Each keeps only the most likely token.
  const std::string episodes = text(greedy.at("file"));
  CHECK(text(nucleus.at("file")) == episodes);
  CHECK(text(likely.at("file")) == episodes);
  CHECK(text(whole.at("file")) != episodes);

  json config = json::parse(text("run.json"));
  config["rollout"]["top_k"] = 1;
  write_text(run.path() / "run.json", config.dump());
  CHECK(text(at_half({.name = "as-run"}).at("file")) == episodes);
  CHECK(text(at_half({.top_k = 0, .name = "not-as-run"}).at("file")) == text(whole.at("file")));
  for (const EvaluationRequest& invalid : {EvaluationRequest{.top_p = 0}, {.top_p = 1.5}, {.top_k = -1}, {.min_p = 2}})
    CHECK(error_code_of([&] { at_half(invalid); }) == "config_invalid");
}

TEST_CASE_FIXTURE(TwoEnvironments, "a missing, pruned or damaged checkpoint is reported as such") {
  int tries = 0;
  const auto code = [&](int checkpoint) {
    return error_code_of([&] { evaluate({.checkpoint = checkpoint, .name = "try-" + std::to_string(++tries)}); });
  };
  const auto hint = [&](int checkpoint) {
    try {
      evaluate({.checkpoint = checkpoint, .name = "try-" + std::to_string(++tries)});
    } catch (const Error& error) {
      return error.hint();
    }
    return std::string();
  };
  CHECK(code(7) == "checkpoint_missing");
  fs::remove(run.path() / "checkpoints/000000/trainer-state.safetensors");
  CHECK(code(0) == "none");
  fs::remove(run.path() / "checkpoints/000000/model.safetensors");
  CHECK(code(0) == "checkpoint_pruned");
  const auto weights = run.path() / "checkpoints/000001/model.safetensors";
  write_text(weights, read_text(weights).substr(0, 1000));
  CHECK(code(1) == "checkpoint_corrupt");
  CHECK(hint(1) == "choose another checkpoint; the run has the weights of: 2");
  fs::copy_file(run.path() / "checkpoints/000001/trainer-state.json",
                run.path() / "checkpoints/000002/trainer-state.json", fs::copy_options::overwrite_existing);
  CHECK(code(2) == "checkpoint_corrupt");
  fs::remove_all(run.path() / "checkpoints/000002");
  CHECK(code(2) == "checkpoint_missing");
  CHECK(hint(1) == "the run has no other checkpoint with weights: resume it, or evaluate another run");
  CHECK(files_in(run.path() / "evaluations") ==
        std::set<std::string>{"try-2.index.json", "try-2.json", "try-2.jsonl.zst", "try-2.panel.json"});
}

TEST_CASE_FIXTURE(TwoEnvironments, "a bf16 checkpoint is not reported as damaged on a CPU without bf16") {
  json config = json::parse(text("run.json"));
  config["precision"] = "bf16";
  write_text(run.path() / "run.json", config.dump());
  const WithIsa scalar(Isa::scalar);
  CHECK(error_code_of([&] { evaluate({.checkpoint = 1}); }) == "precision_unsupported");
}

TEST_CASE_FIXTURE(TwoEnvironments, "an evaluation name is used once, and canceling leaves no files") {
  CHECK(error_code_of([&] { evaluate({.checkpoint = 1, .name = "Not a name"}); }) == "evaluation_name_invalid");
  CHECK(error_code_of([&] { evaluate({.checkpoint = 1, .name = "../x"}); }) == "evaluation_name_invalid");
  evaluate({.checkpoint = 1, .name = "once"});
  const auto before = files_in(run.path() / "evaluations");
  CHECK(error_code_of([&] { evaluate({.checkpoint = 1, .name = "once"}); }) == "evaluation_exists");
  const auto plan = plan_evaluation(run.path(), {.checkpoint = 1, .name = "given-up"});
  const auto cancel = [](int done, int) {
    if (done > 0) throw Error("evaluation_canceled", "given up", "start again");
  };
  CHECK(error_code_of([&] { evaluate_checkpoint(run.path(), 1, plan, cancel); }) == "evaluation_canceled");
  CHECK(files_in(run.path() / "evaluations") == before);
}

TEST_CASE(
    "an evaluation that fills the disk leaves no files; the next evaluation deletes a killed process's leftovers") {
  TemporaryFolder run;
  const auto folder = run.path() / "evaluations";
  const auto add = [](RolloutWriter& writer) { writer.add("{}", {{"id", "000001-a-0000"}}); };
  write_evaluation_files(run.path(), "whole", "{}", "{}", 1, "a", add);
  for (const char* left : {".killed.jsonl.zst.partial", "killed.jsonl.zst", "killed.index.json", "killed.panel.json"})
    write_text(folder / left, "left");
  const auto full = [&](RolloutWriter& writer) {
    add(writer);
    throw Error("disk_full", "no space", "make some");
  };
  CHECK(error_code_of([&] { write_evaluation_files(run.path(), "full", "{}", "{}", 1, "a", full); }) == "disk_full");
  CHECK(files_in(folder) ==
        std::set<std::string>{"whole.index.json", "whole.json", "whole.jsonl.zst", "whole.panel.json"});
}

TEST_CASE_FIXTURE(TwoEnvironments, "the example of an evaluation has the keys that the trainer writes") {
  const json shown = json::parse(read_text(repository() / "docs/formats/examples/evaluation.json")),
             written = evaluate({.checkpoint = 1});
  CHECK(metric_keys(shown) == metric_keys(written));
  for (const char* part : {"environment", "metrics"})
    CHECK(metric_keys(shown.at(part)) == metric_keys(written.at(part)));
}

namespace {

// Replaces standard output and calls back after every line.
class WatchedOutput : public std::stringbuf {
 public:
  explicit WatchedOutput(std::function<void()> on_line)
      : on_line_(std::move(on_line)), replaced_(std::cout.rdbuf(this)) {}
  ~WatchedOutput() override { std::cout.rdbuf(replaced_); }

 private:
  int sync() override {
    on_line_();
    return 0;
  }

  std::function<void()> on_line_;
  std::streambuf* replaced_;
};

struct DefaultSignals {
  ~DefaultSignals() {
    std::signal(SIGTERM, SIG_DFL);
    std::signal(SIGINT, SIG_DFL);
  }
};

}  // namespace

TEST_CASE_FIXTURE(
    TwoEnvironments,
    "a signal cancels an evaluation, on any thread and repeatedly, without effect on the next evaluation") {
  const DefaultSignals afterwards;
  const EvaluationRequest request{.checkpoint = 1, .name = "mine"};
  {
    const WatchedOutput output([] {
      std::thread([] {
        std::raise(SIGTERM);
        std::raise(SIGINT);
      }).join();
    });
    CHECK(error_code_of([&] { evaluate_command(run.path(), request, true); }) == "evaluation_canceled");
  }
  CHECK_FALSE(fs::exists(run.path() / "evaluations/mine.json"));
  const WatchedOutput output([] {});
  CHECK(evaluate_command(run.path(), request, true) == 0);
  CHECK(files_in(run.path() / "evaluations") ==
        std::set<std::string>{"mine.json", "mine.jsonl.zst", "mine.index.json", "mine.panel.json"});
}
