#include <doctest/doctest.h>

#include <limits>

#include "tiny_run.h"
#include "train/run/early_stop.h"

using namespace starpo;
using namespace starpo::test;

namespace {

// Feeds the rules with numbers, and writes them to a journal.
struct Rules {
  TemporaryFolder run;
  Journal journal{run.path()};
  RunConfig config;
  EarlyStop rules;
  int iteration = 0;

  explicit Rules(const EarlyStopConfig& limits, Task task = Task::reinforce)
      : config{with(limits, task)}, rules(config) {}

  static RunConfig with(const EarlyStopConfig& limits, Task task) {
    RunConfig config;
    config.task = task;
    config.early_stop = limits;
    return config;
  }

  // Adds iterations until the rules stop the run. Returns the number of iterations of the run.
  int train(int count, const Metrics& metrics) {
    for (int i = 0; i < count && rules.reason().empty(); ++i) {
      journal.iteration(++iteration, metrics, {});
      rules.add_iteration(metrics);
    }
    return iteration;
  }

  void evaluate(const std::string& label, double success) {
    const Metrics metrics{{"evaluation/" + label + "/success_rate", success}};
    journal.evaluation(iteration, label, metrics, "");
    rules.add_evaluation(iteration, label, metrics);
  }

  // Replaces the rules with those of a process that resumes the run.
  void resume(int from) {
    StartedEvent started;
    started.resume = ResumedFrom{"", from};
    journal.started(started);
    iteration = from;
    rules = EarlyStop(config);
    rules.restore(run.path() / "events.jsonl", from);
  }
};

Metrics with_std(double value) { return {{"rollout/reward_std_in_group", value}}; }
Metrics with_kept(double groups) { return {{"filter/kept_groups", groups}}; }
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("ten consecutive iterations with a low reward std stop a run") {
  Rules run({.reward_std = 0.1});
  run.train(5, with_std(0.5)), run.train(5, with_std(1.5));
  CHECK(run.train(9, with_std(0.099)) == 19);
  CHECK(run.train(1, with_std(0.1)) == 20);  // not below
  CHECK(run.train(4, with_std(0.05)) == 24);
  CHECK(run.train(3, with_std(kNotANumber)) == 27);  // not counted
  CHECK(run.train(1, {}) == 28);
  CHECK(run.train(100, with_std(0)) == 34);
  CHECK(run.rules.reason() ==
        "the in-group reward std was below 0.1 in 10 consecutive iterations: 10 % of 1, its mean over the first 10 "
        "iterations (early_stop.reward_std)");

  Rules equal({.reward_std = 1});
  CHECK(equal.train(100, with_std(0)) == 100);
  Rules off({});
  off.train(10, with_std(1));
  CHECK(off.train(100, with_std(0)) == 110);
}

TEST_CASE("consecutive evaluations of one environment without success stop a run") {
  Rules run({.failed_evaluations = 3});
  for (const char* label : {"lake", "bandit"}) run.evaluate(label, 0);  // before training
  for (const double success : {0.0, 0.009, 0.01, 0.0, kNotANumber, 0.0}) {
    run.train(1, {});
    run.evaluate("lake", success), run.evaluate("bandit", 1);
    CHECK(run.rules.reason() == "");
  }
  run.evaluate("lake", 0);  // of the same iteration
  CHECK(run.rules.reason() == "");
  run.train(1, {});
  run.evaluate("bandit", 0), run.evaluate("lake", 0.0099);
  CHECK(run.rules.reason() ==
        "the success rate of lake was below 1 % in 3 consecutive evaluations (early_stop.failed_evaluations)");

  Rules off({});
  for (int i = 0; i < 20; ++i) off.train(1, {}), off.evaluate("lake", 0);
  CHECK(off.rules.reason() == "");
}

TEST_CASE("consecutive iterations whose filter keeps no group stop a run, but not a warm start") {
  Rules run({.empty_filters = 3});
  run.train(2, with_kept(0)), run.train(1, with_kept(1));
  CHECK(run.train(100, with_kept(0)) == 6);
  CHECK(run.rules.reason() == "the filter kept no group in 3 consecutive iterations (early_stop.empty_filters)");

  Rules off({});
  CHECK(off.train(100, with_kept(0)) == 100);
  Rules warm_start({.reward_std = 1, .failed_evaluations = 1, .empty_filters = 1}, Task::warm_start);
  warm_start.train(20, with_kept(0)), warm_start.evaluate("lake", 0);
  CHECK(warm_start.rules.reason() == "");
}

TEST_CASE("a resumed run counts as if it had not been interrupted") {
  Rules run({.reward_std = 0.5, .failed_evaluations = 2, .empty_filters = 4});
  const Metrics low{{"rollout/reward_std_in_group", 0.1}, {"filter/kept_groups", 1}};
  run.train(10, with_std(1)), run.train(8, low);
  run.resume(14);
  CHECK(run.train(100, low) == 20);

  Rules filter({.empty_filters = 4});
  filter.train(2, with_kept(1)), filter.train(1, with_kept(0)), filter.evaluate("lake", 1),
      filter.train(1, with_kept(1));
  filter.resume(3);
  CHECK(filter.train(100, with_kept(0)) == 6);
  filter.resume(5);
  CHECK(filter.train(100, with_kept(0)) == 6);

  Rules lake({.failed_evaluations = 2});
  lake.train(1, {}), lake.evaluate("lake", 0), lake.train(1, {}), lake.evaluate("lake", 0);
  lake.resume(1);
  lake.evaluate("lake", 0);  // of iteration 1 again
  CHECK(lake.rules.reason() == "");
  lake.train(1, {}), lake.evaluate("lake", 0);
  CHECK(lake.rules.reason() != "");
}

TEST_CASE("after a stop, a resumed run counts from 0; a run that was killed before it ended stops") {
  Rules run({.reward_std = 0.5, .empty_filters = 2});
  run.train(10, with_std(1));
  CHECK(run.train(5, with_kept(0)) == 12);
  run.resume(12);
  CHECK(run.rules.reason() != "");
  run.journal.stopped("early_stop", 12, run.rules.reason());
  run.resume(12);
  CHECK(run.rules.reason() == "");
  CHECK(run.train(100, with_kept(0)) == 14);
  run.journal.stopped("completed", 14);
  run.resume(14);
  // The mean over the first iterations stays.
  CHECK(run.train(100, with_std(0.4)) == 24);
}

TEST_CASE_FIXTURE(TinyRun, "a run stops with a checkpoint once its filter keeps no group, and can be resumed") {
  config["iterations"] = 6;
  config["rollout"]["max_response_tokens"] = 1;  // no valid response, so scores are equal
  config["filter"]["strategy"] = "top_p";
  config["early_stop"]["empty_filters"] = 2;
  CHECK(train() == 0);
  const json stopped = events("stopped").back();
  CHECK(stopped.at("reason") == "early_stop");
  CHECK(stopped.at("iteration") == 2);
  CHECK(stopped.at("message") == "the filter kept no group in 2 consecutive iterations (early_stop.empty_filters)");
  CHECK(listed("checkpoint", "path") == "0 checkpoints/000000, 2 checkpoints/000002");
  CHECK(train() == 0);
  CHECK(events("started").back().at("resume").at("iteration") == 2);
  CHECK(events("stopped").back().at("iteration") == 4);
  // The last iteration completes the run.
  CHECK(train() == 0);
  CHECK(listed("stopped", "reason") == "2 early_stop, 4 early_stop, 6 completed");
  CHECK(events("stopped").back().at("message") == "");
}

TEST_CASE_FIXTURE(TinyRun, "a run stops after an evaluation without success") {
  config["iterations"] = 3;
  config["rollout"]["max_response_tokens"] = 1;
  config["evaluation"]["every"] = 1;
  config["early_stop"]["failed_evaluations"] = 1;
  CHECK(train() == 0);
  CHECK(listed("stopped", "message") ==
        "1 the success rate of frozen-lake was below 1 % in 1 evaluation (early_stop.failed_evaluations)");
  CHECK(listed("checkpoint", "path") == "0 checkpoints/000000, 1 checkpoints/000001");
}
