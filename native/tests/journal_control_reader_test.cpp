#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "journal/control_reader.h"
#include "repository.h"
#include "temporary_folder.h"

using namespace starpo;
using nlohmann::json;

namespace {

struct ControlFile {
  TemporaryFolder run;
  Journal journal{run.path()};

  void send(const std::string& text) { append_text(run.path() / "control.jsonl", text); }

  std::vector<json> events() {
    std::vector<json> events;
    std::istringstream text(read_text(run.path() / "events.jsonl"));
    for (std::string line; std::getline(text, line);) events.push_back(json::parse(line));
    return events;
  }
};

std::string line(const std::string& id, const std::string& command) {
  return json{{"v", 1}, {"id", id}, {"time", 1}, {"command", command}, {"args", json::object()}}.dump() + "\n";
}

}  // namespace

TEST_CASE_FIXTURE(ControlFile, "commands are read once, in order, and only if appended later") {
  send(line("old", "stop"));
  ControlReader reader(run.path());
  CHECK(reader.poll(journal).empty());
  send(line("a", "pause") + line("b", "resume"));
  send(line("c", "checkpoint"));
  const auto commands = reader.poll(journal);
  REQUIRE(commands.size() == 3);
  CHECK(commands[0].id == "a");
  CHECK(commands[0].command == Command::pause);
  CHECK(commands[1].command == Command::resume);
  CHECK(commands[2].command == Command::checkpoint);
  CHECK(reader.poll(journal).empty());
  CHECK(events().empty());
}

TEST_CASE_FIXTURE(ControlFile, "control.jsonl may be created later, and lines may arrive in parts") {
  ControlReader reader(run.path());
  CHECK(reader.poll(journal).empty());
  const auto text = line("a", "stop");
  send(text.substr(0, 20));
  CHECK(reader.poll(journal).empty());
  send(text.substr(20));
  const auto commands = reader.poll(journal);
  REQUIRE(commands.size() == 1);
  CHECK(commands[0].command == Command::stop);
}

TEST_CASE_FIXTURE(ControlFile, "malformed lines are rejected, and the valid lines after them are read") {
  ControlReader reader(run.path());
  send("garbage\n[]\n{\"v\":1,\"command\":\"stop\"}\n\n");
  send(line("bad id!", "stop") + line("x1", "explode"));
  send(
      "{\"v\":2,\"id\":\"x2\",\"command\":\"stop\"}\n{\"v\":1,\"id\":\"x3\"}\n{\"v\":1,\"id\":7,\"command\":\"stop\"}"
      "\n");
  send(line("good", "stop"));
  const auto commands = reader.poll(journal);
  REQUIRE(commands.size() == 1);
  CHECK(commands[0].id == "good");
  std::vector<std::string> rejected;
  int warnings = 0;
  for (const auto& event : events()) {
    if (event.at("type") == "log")
      warnings += event.at("level") == "warning";
    else if (event.at("type") == "acknowledged" && event.at("accepted") == false)
      rejected.push_back(event.at("command_id"));
  }
  CHECK(rejected == std::vector<std::string>{"x1", "x2", "x3"});
  CHECK(warnings == 5);
}

TEST_CASE_FIXTURE(ControlFile, "the example of control.jsonl is read") {
  ControlReader reader(run.path());
  send(read_text(test::repository() / "docs/formats/examples/control.jsonl"));
  const auto commands = reader.poll(journal);
  REQUIRE(commands.size() == 6);
  CHECK(commands[0].command == Command::pause);
  CHECK(commands[1].command == Command::resume);
  CHECK(commands[2].command == Command::checkpoint);
  CHECK(commands[3].command == Command::stop);
  CHECK(commands[4].command == Command::pin);
  CHECK(commands[4].iteration == 2);
  CHECK(commands[5].command == Command::unpin);
  CHECK(events().empty());
}

TEST_CASE_FIXTURE(ControlFile, "a truncated file is read again, without the commands seen before") {
  send(line("old", "stop"));
  ControlReader reader(run.path());
  send(line("a", "pause"));
  CHECK(reader.poll(journal).size() == 1);

  const auto first_lines = read_text(run.path() / "control.jsonl");
  write_text(run.path() / "control.jsonl", line("b", "resume"));  // replaced by a shorter file
  auto commands = reader.poll(journal);
  REQUIRE(commands.size() == 1);
  CHECK(commands[0].id == "b");
  send(line("c", "stop"));
  commands = reader.poll(journal);
  REQUIRE(commands.size() == 1);
  CHECK(commands[0].id == "c");

  write_text(run.path() / "control.jsonl", "");
  CHECK(reader.poll(journal).empty());
  write_text(run.path() / "control.jsonl", first_lines + line("d", "checkpoint"));  // restored and extended
  commands = reader.poll(journal);
  REQUIRE(commands.size() == 1);
  CHECK(commands[0].id == "d");
  CHECK(events().empty());
}
