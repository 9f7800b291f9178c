#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "temporary_folder.h"
#include "train/run/run_control.h"

using namespace starpo;
using nlohmann::json;

namespace {

struct ControlledRun {
  TemporaryFolder run;
  Journal journal{run.path()};
  RunControl control{run.path(), journal};

  ~ControlledRun() {
    std::signal(SIGTERM, SIG_DFL);
    std::signal(SIGINT, SIG_DFL);
  }

  // Appends commands whose ids are their names.
  void send(std::initializer_list<const char*> commands) {
    for (const char* command : commands)
      append_text(run.path() / "control.jsonl", json{{"v", 1}, {"id", command}, {"command", command}}.dump() + "\n");
  }

  // Returns acknowledgments with + or - for accepted, and other events by type: "pause+ paused".
  std::string events() const {
    std::string text;
    std::istringstream lines(read_text(run.path() / "events.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const auto event = json::parse(line);
      const bool answer = event.at("type") == "acknowledged";
      text += (text.empty() ? "" : " ") +
              (answer ? event.at("command_id").get<std::string>() + (event.at("accepted") == true ? "+" : "-")
                      : event.at("type").get<std::string>());
    }
    return text;
  }
};

}  // namespace

TEST_CASE_FIXTURE(ControlledRun, "each command is acknowledged, and rejected if it has no effect") {
  send({"resume", "checkpoint", "pause", "pause", "resume"});
  control.poll();
  CHECK(events() == "resume- checkpoint+ pause+ paused pause- resume+ resumed");
  CHECK_FALSE(control.stop_requested());
  CHECK(control.checkpoint_requested());
  control.clear_checkpoint_request();
  CHECK_FALSE(control.checkpoint_requested());
}

TEST_CASE_FIXTURE(ControlledRun,
                  "a checkpoint requested during a pause is written at once if the state is that of the last "
                  "iteration, else at the end of the current one") {
  int written = 0;
  control.set_iteration(4);
  send({"checkpoint", "pause", "checkpoint", "resume"});
  control.poll_abortable([&] { ++written; });
  CHECK(events() == "checkpoint+ pause+ paused checkpoint+ resume+ resumed");
  CHECK(written == 1);
  CHECK(control.checkpoint_requested());  // the first request
  control.clear_checkpoint_request();

  send({"pause", "checkpoint", "resume"});
  control.poll_abortable([&] { ++written; });
  CHECK(written == 2);
  CHECK_FALSE(control.checkpoint_requested());

  send({"pause", "checkpoint", "resume"});
  control.poll();
  CHECK(written == 2);
  CHECK(control.checkpoint_requested());
}

TEST_CASE_FIXTURE(ControlledRun, "a checkpoint can be pinned and unpinned, and failures report the reason") {
  const auto folder = run.path() / "checkpoints/000005";
  std::filesystem::create_directories(folder);
  write_text(folder / "trainer-state.safetensors", "");
  const auto send_command = [&](const char* command, const json& args) {
    append_text(run.path() / "control.jsonl",
                json{{"v", 1}, {"id", command}, {"command", command}, {"args", args}}.dump() + "\n");
    control.poll();
  };
  const json five{{"iteration", 5}};
  send_command("unpin", five), send_command("pin", five), send_command("pin", five);
  CHECK(std::filesystem::exists(folder / "pinned"));
  send_command("unpin", five);
  CHECK_FALSE(std::filesystem::exists(folder / "pinned"));
  send_command("pin", {{"iteration", 6}}), send_command("pin", {{"iteration", -1}}),
      send_command("pin", json::object());
  std::filesystem::remove(folder / "trainer-state.safetensors");
  send_command("pin", five);
  CHECK(events() == "unpin- pin+ pin- unpin+ pin- pin- pin- pin-");
}

TEST_CASE_FIXTURE(ControlledRun,
                  "commands after the end of a run are acknowledged, and accepted if already fulfilled") {
  send({"pause", "resume", "checkpoint", "stop"});
  control.finish();
  CHECK(events() == "pause- resume- checkpoint+ stop+");
  CHECK_FALSE(control.stop_requested());
}

TEST_CASE_FIXTURE(ControlledRun, "a stop ends a pause and discards a rollout, and the remaining work can't be paused") {
  send({"pause", "stop"});
  CHECK_THROWS_AS(control.poll_abortable([] {}), Aborted);
  CHECK(control.stop_reason() == "command");
  send({"pause", "resume"});
  control.poll();
  CHECK(events() == "pause+ paused stop+ pause- resume-");
}

TEST_CASE_FIXTURE(ControlledRun, "a pause blocks until the run is resumed and is excluded from times") {
  const auto start = std::chrono::steady_clock::now();
  const Stopwatch watch(control);
  send({"pause"});
  std::thread user([this] {
    while (events() != "pause+ paused") std::this_thread::yield();
    send({"resume"});
  });
  control.poll();
  user.join();
  CHECK(events() == "pause+ paused resume+ resumed");
  CHECK(control.paused_seconds() > 0);
  const double worked = watch.seconds();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  CHECK(worked >= 0);
  CHECK(worked + control.paused_seconds() <= elapsed.count() + 1e-9);
}

TEST_CASE_FIXTURE(ControlledRun, "a signal requests a stop and ends a pause") {
  send({"pause"});
  std::raise(SIGTERM);
  control.poll();
  CHECK(control.stop_reason() == "signal");
  CHECK_THROWS_AS(control.poll_abortable([] {}), Aborted);
}

TEST_CASE_FIXTURE(ControlledRun, "the second signal ends the process immediately") {
  const pid_t child = ::fork();
  if (child == 0) {
    std::raise(SIGTERM);
    std::raise(SIGINT);
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 128 + SIGINT);
}

TEST_CASE_FIXTURE(ControlledRun, "a signal delivered to another thread requests a stop") {
  std::thread([] { std::raise(SIGTERM); }).join();
  control.poll();
  CHECK(control.stop_reason() == "signal");
}
