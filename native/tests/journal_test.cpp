#include <doctest/doctest.h>
#include <unistd.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "engine/memory_plan.h"
#include "error_code.h"
#include "journal/event_types.h"
#include "journal/journal.h"
#include "journal/journal_tail.h"
#include "journal/metric_names.h"
#include "journal/run_lock.h"
#include "repository.h"
#include "system_calls.h"
#include "temporary_folder.h"
#include "train/evaluation/evaluation_files.h"

using namespace starpo;
using nlohmann::json;

namespace {

std::vector<json> events_of(const TemporaryFolder& run) {
  std::vector<json> events;
  std::istringstream text(read_text(run.path() / "events.jsonl"));
  for (std::string line; std::getline(text, line);) events.push_back(json::parse(line, nullptr, false));
  return events;
}

std::set<std::string> key_names(const json& event) {
  std::set<std::string> names;
  for (const auto& [name, value] : event.items()) names.insert(name);
  return names;
}

StartedEvent start() {
  return {.resume = std::nullopt,
          .isa = "avx2",
          .device = "cpu",
          .device_name = "a GPU",
          .device_uuid = "GPU-0123",
          .threads = 2,
          .iterations = 3,
          .parameters = 999680};
}

// Writes at least one event of every type, with all possible fields.
void write_every_event(Journal& journal) {
  auto started = start();
  started.resume = ResumedFrom{"checkpoints/000002", 2};
  started.iteration = 2;
  journal.started(started);
  journal.memory_plan(memory_plan_json({"cuda:0",
                                        80,
                                        70,
                                        {{"policy", MemoryLifetime::run, 30},
                                         {"kv_cache", MemoryLifetime::rollout, 9},
                                         {"activations", MemoryLifetime::update, 8},
                                         {"logits", MemoryLifetime::update, 2}}}));
  journal.phase("rollout", 3, 4, 128);
  journal.iteration(
      3, {{std::string(metric::kActorLoss), 0.1}, {"actor/entropy", std::numeric_limits<double>::quiet_NaN()}},
      {{"actor/grad_norm", {1.5, 2}}}, ReasoningTemplate{"I go", 0.75});
  journal.first_step_check(
      3, {{"step_kl", "KL of the step", "nats", 0.2, 1e-9, std::numeric_limits<double>::infinity(), Verdict::suspicious,
           "The step changes the policy too much.", "optimizer.learning_rate"}});
  journal.evaluation(3, "frozen-lake", {{"evaluation/frozen-lake/success_rate", 0.5}}, std::string(64, '0'));
  journal.rollout(3, "train", "rollouts/000003-train.jsonl.zst", "rollouts/000003-train.index.json", 128);
  journal.rollout_removed(1, "train");
  journal.environment_alert(1, "own", 2, 8, "it failed");
  journal.checkpoint(3, "checkpoints/000003");
  journal.checkpoint_state_removed(1);
  journal.acknowledged("id-1", true, "stopping");
  journal.paused(3);
  journal.resumed(3);
  journal.info("half a rune: \xE2\x88");
  journal.warning("careful");
  journal.stopped("early_stop", 3, "nothing is learned");
  journal.failed("non_finite_loss", "the loss is NaN", "lower the learning rate", 3);
}

}  // namespace

TEST_CASE("every event has its fields and consecutive seq") {
  TemporaryFolder run;
  {
    Journal journal(run.path());
    write_every_event(journal);
    CHECK(journal.next_seq() == 18);
  }
  const auto events = events_of(run);
  REQUIRE(events.size() == 18);
  const std::vector<json> expected{
      {{"type", "started"},
       {"resume", {{"checkpoint", "checkpoints/000002"}, {"iteration", 2}}},
       {"iteration", 2},
       {"isa", "avx2"},
       {"device", "cpu"},
       {"device_name", "a GPU"},
       {"device_uuid", "GPU-0123"},
       {"threads", 2},
       {"iterations", 3},
       {"parameters", 999680}},
      {{"type", "memory_plan"},
       {"device", "cuda:0"},
       {"device_bytes", 80},
       {"free_bytes", 70},
       {"total_bytes", 40},
       {"parts",
        {{{"name", "policy"}, {"lifetime", "run"}, {"bytes", 30}},
         {{"name", "kv_cache"}, {"lifetime", "rollout"}, {"bytes", 9}},
         {{"name", "activations"}, {"lifetime", "update"}, {"bytes", 8}},
         {{"name", "logits"}, {"lifetime", "update"}, {"bytes", 2}}}}},
      {{"type", "phase"}, {"name", "rollout"}, {"iteration", 3}, {"done", 4}, {"total", 128}},
      {{"type", "iteration"},
       {"iteration", 3},
       {"metrics", {{"actor/loss", 0.1}}},
       {"updates", {{"actor/grad_norm", {1.5, 2}}}},
       {"template", {{"text", "I go"}, {"share", 0.75}}}},
      {{"type", "first_step_check"},
       {"iteration", 3},
       {"checks", json::array({{{"name", "step_kl"},
                                {"title", "KL of the step"},
                                {"unit", "nats"},
                                {"value", 0.2},
                                {"low", 1e-9},
                                {"high", nullptr},
                                {"verdict", "suspicious"},
                                {"message", "The step changes the policy too much."},
                                {"setting", "optimizer.learning_rate"}}})}},
      {{"type", "evaluation"},
       {"iteration", 3},
       {"label", "frozen-lake"},
       {"metrics", {{"evaluation/frozen-lake/success_rate", 0.5}}},
       {"panel", std::string(64, '0')}},
      {{"type", "rollout"},
       {"iteration", 3},
       {"split", "train"},
       {"file", "rollouts/000003-train.jsonl.zst"},
       {"index", "rollouts/000003-train.index.json"},
       {"episodes", 128}},
      {{"type", "rollout_removed"}, {"iteration", 1}, {"split", "train"}},
      {{"type", "environment_alert"},
       {"iteration", 1},
       {"environment", "own"},
       {"void", 2},
       {"episodes", 8},
       {"message", "it failed"}},
      {{"type", "checkpoint"}, {"iteration", 3}, {"path", "checkpoints/000003"}},
      {{"type", "checkpoint_state_removed"}, {"iteration", 1}},
      {{"type", "acknowledged"}, {"command_id", "id-1"}, {"accepted", true}, {"message", "stopping"}},
      {{"type", "paused"}, {"iteration", 3}},
      {{"type", "resumed"}, {"iteration", 3}},
      {{"type", "log"}, {"level", "info"}, {"message", "half a rune: \xEF\xBF\xBD"}},
      {{"type", "log"}, {"level", "warning"}, {"message", "careful"}},
      {{"type", "stopped"}, {"reason", "early_stop"}, {"iteration", 3}, {"message", "nothing is learned"}},
      {{"type", "failed"},
       {"code", "non_finite_loss"},
       {"message", "the loss is NaN"},
       {"hint", "lower the learning rate"},
       {"iteration", 3}},
  };
  for (std::size_t i = 0; i < events.size(); ++i) {
    auto event = events[i];
    CHECK(event.at("v") == 1);
    CHECK(event.at("seq") == i);
    CHECK(event.at("time").get<std::int64_t>() > 1'600'000'000'000);
    for (const char* key : {"v", "seq", "time"}) event.erase(key);
    if (i == 0) {
      for (const char* key : {"pid", "host", "build"}) CHECK(event.erase(key) == 1);
    }
    CHECK(event == expected[i]);
  }
}

TEST_CASE("resume is null for the first process") {
  TemporaryFolder run;
  Journal(run.path()).started(start());
  CHECK(events_of(run).at(0).at("resume").is_null());
}

TEST_CASE("phase events are limited to four per second, except for a new phase") {
  TemporaryFolder run;
  {
    Journal journal(run.path());
    for (int done = 0; done < 1000; ++done) journal.phase("rollout", 1, done, 1000);
    journal.phase("update", 1, 0, 4);
    journal.phase("rollout", 2, 0, 1000);
  }
  const auto events = events_of(run);
  std::vector<std::int64_t> times;
  std::string previous;
  for (const auto& event : events) {
    if (event.at("name") == previous) CHECK(event.at("time").get<std::int64_t>() - times.back() >= 250);
    previous = event.at("name");
    times.push_back(event.at("time"));
  }
  CHECK(events.front().at("done") == 0);
  CHECK(events.back().at("iteration") == 2);
  CHECK(events[events.size() - 2].at("name") == "update");
}

TEST_CASE("a journal continues after its last complete event and logs its repairs") {
  TemporaryFolder run;
  {
    Journal journal(run.path());
    journal.started(start());
    journal.info("kept");
  }
  append_text(run.path() / "events.jsonl", "not json\n[1]\n{\"seq\": \"x\"}\n{\"v\":1,\"seq\":2,\"ty");
  {
    Journal journal(run.path());
    CHECK(journal.next_seq() == 2);
    journal.started(start());
  }
  const auto text = read_text(run.path() / "events.jsonl");
  CHECK(text.find("not json\n[1]\n{\"seq\": \"x\"}\n{\"v\":1,\"seq\":2,\"time\"") !=
        std::string::npos);  // the truncated line was removed
  const auto events = events_of(run);
  REQUIRE(events.size() == 8);
  CHECK(events[5].at("type") == "started");
  CHECK(events[6].at("level") == "warning");
  CHECK(events[7].at("level") == "warning");
  CHECK(events[7].at("seq") == 4);
}

TEST_CASE("the last event is found in journals of any length") {
  TemporaryFolder run;
  const auto path = run.path() / "events.jsonl";
  for (const std::string& text :
       {std::string(), std::string("cut"), std::string("\n\n"), std::string("garbage\ncut")}) {
    write_text(path, text);
    CHECK(read_journal_tail(path).last_seq == -1);
  }
  write_text(path, "{\"seq\":7,\"padding\":\"" + std::string(300'000, 'x') + "\"}\n" + std::string(200'000, 'y'));
  const auto tail = read_journal_tail(path);
  CHECK(tail.last_seq == 7);
  CHECK(tail.truncated_bytes == 200'000);
  CHECK(tail.invalid_lines == 0);
  CHECK(read_journal_tail(run.path() / "none").last_seq == -1);
}

TEST_CASE("the last completed iteration is that of the latest process") {
  TemporaryFolder run;
  const auto path = run.path() / "events.jsonl";
  const auto iteration = [&] { return last_complete_iteration(path); };
  CHECK(iteration() == 0);
  append_text(path, R"({"seq":0,"type":"started","resume":null,"iteration":0})"
                    "\n");
  CHECK(iteration() == 0);
  append_text(path, R"({"seq":1,"type":"iteration","iteration":4})"
                    "\n"
                    R"({"seq":2,"type":"checkpoint","iteration":9})"
                    "\ngarbage\n"
                    R"({"seq":3,"type":"iterat)");
  CHECK(iteration() == 4);
  append_text(path,
              "\n"
              R"({"seq":3,"type":"started","resume":{"checkpoint":"checkpoints/000002","iteration":2},"iteration":2})"
              "\n");
  CHECK(iteration() == 2);
  append_text(path, R"({"seq":4,"type":"started","resume":null,"iteration":50})"
                    "\n");  // a fork
  CHECK(iteration() == 50);
}

TEST_CASE("the evaluations of an iteration are those since it was last completed") {
  TemporaryFolder run;
  const auto path = run.path() / "events.jsonl";
  const auto labels = [&](int iteration) { return evaluated_labels(path, iteration); };
  using Labels = std::set<std::string>;
  CHECK(labels(0).empty());
  for (const char* line :
       {R"({"type":"evaluation","iteration":0,"label":"lake"})", R"({"type":"iteration","iteration":1})",
        R"({"type":"evaluation","iteration":1,"label":"lake"})", R"({"type":"started","resume":{},"iteration":0})",
        R"({"type":"iteration","iteration":1})"})
    append_text(path, std::string(line) + "\n");
  CHECK(labels(0) == Labels{"lake"});
  CHECK(labels(1) == Labels{});
  append_text(path,
              "{\"type\":\"evaluation\",\"iteration\":1,\"label\":\"shop\"}\n{\"type\":\"started\",\"iteration\":1}\n");
  CHECK(labels(1) == Labels{"shop"});
}

TEST_CASE("a run has one trainer at a time") {
  TemporaryFolder run;
  CHECK_FALSE(find_lock_holder(run.path()).has_value());
  {
    Journal journal(run.path());
    const auto holder = find_lock_holder(run.path());
    REQUIRE(holder.has_value());
    CHECK(holder->pid == ::getpid());
    CHECK(holder->host == host_name());
    CHECK(holder->started > 1'600'000'000'000);
    const auto before = read_text(run.path() / "events.jsonl");
    CHECK(error_code_of([&] { Journal second(run.path()); }) == "run_locked");
    CHECK(read_text(run.path() / "events.jsonl") == before);
  }
  CHECK_FALSE(find_lock_holder(run.path()).has_value());
  Journal(run.path()).info("free again");
}

TEST_CASE("a missing run directory is an error") {
  TemporaryFolder folder;
  CHECK(error_code_of([&] { Journal journal(folder.path() / "none"); }) == "run_missing");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "none"));
}

TEST_CASE("the journal and the example of events.jsonl have every event type with its described fields") {
  TemporaryFolder run;
  {
    Journal journal(run.path());
    write_every_event(journal);
  }
  std::map<std::string, std::set<std::string>> written, shown;
  for (const auto& event : events_of(run)) written[event.at("type")] = key_names(event);
  std::istringstream text(read_text(test::repository() / "docs/formats/examples/events.jsonl"));
  std::int64_t seq = 0;
  for (std::string line; std::getline(text, line); ++seq) {
    CAPTURE(line);
    const auto event = json::parse(line);
    CHECK(event.at("v") == 1);
    CHECK(event.at("seq") == seq);
    CHECK(key_names(event) == written[event.at("type")]);
    shown[event.at("type")] = key_names(event);
  }
  CHECK(shown == written);
  std::map<std::string, std::set<std::string>> described;
  for (const auto& type : event::kTypes) {
    auto& names = described[std::string(type.name)] = {"v", "seq", "time", "type"};
    for (const auto& field : type.fields) names.emplace(field.name);
  }
  CHECK(described == written);
}

TEST_CASE("journal and lock do not follow links, but the run directory may be behind one") {
  TemporaryFolder run, elsewhere;
  const auto own = elsewhere.path() / "own", linked_run = elsewhere.path() / "run";
  for (const std::string name : {"trainer.lock", "events.jsonl"}) {
    CAPTURE(name);
    const auto link = run.path() / name;
    std::filesystem::create_symlink(own, link);
    CHECK(error_code_of([&] { Journal journal(run.path()); }) == "file_unwritable");
    CHECK_FALSE(std::filesystem::exists(own));
    write_text(own, "somebody's, and no line of it is whole");
    CHECK(error_code_of([&] { Journal journal(run.path()); }) == "file_unwritable");
    CHECK(read_text(own) == "somebody's, and no line of it is whole");
    std::filesystem::remove(own);
    std::filesystem::remove(link);
  }
  const TemporaryFolder other;
  const RunLock held(elsewhere.path());
  std::filesystem::create_symlink(elsewhere.path() / "trainer.lock", other.path() / "trainer.lock");
  CHECK(find_lock_holder(elsewhere.path()).has_value());
  CHECK_FALSE(find_lock_holder(other.path()).has_value());  // lock of another run
  std::filesystem::create_directory_symlink(run.path(), linked_run);
  Journal(linked_run).info("at home");
  CHECK(events_of(run).size() == 1);
  CHECK_FALSE(find_lock_holder(run.path()).has_value());
}

TEST_CASE("without file locks, a run fails and is not reported as free") {
  TemporaryFolder run;
  const test::NoLocks none;
  CHECK(error_code_of([&] { RunLock lock(run.path()); }) == "lock_unavailable");
  CHECK(error_code_of([&] { find_lock_holder(run.path()); }) == "lock_unavailable");
  CHECK(error_code_of([&] {
          write_evaluation_files(run.path(), "mine", "{}", "{}", 0, "lake", [](RolloutWriter&) {});
        }) == "lock_unavailable");
}
