#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "journal/control_reader.h"
#include "targets.h"
#include "temporary_folder.h"

namespace starpo::fuzz {

// The input is appended to control.jsonl, which core writes.
void control_lines(std::string_view input) {
  static const TemporaryFolder run;
  const auto events = run.path() / "events.jsonl", control = run.path() / "control.jsonl";
  std::filesystem::remove(events);
  write_text(control, "");
  {
    Journal journal(run.path());
    ControlReader reader(run.path());
    write_text(control, std::string(input));
    const auto commands = reader.poll(journal);
    for (const ControlCommand& command : commands) require(!command.id.empty(), "every command has an id");
    require(reader.poll(journal).empty(), "a command is read once");
  }
  std::istringstream lines(read_text(events));
  for (std::string line; std::getline(lines, line);)
    require(nlohmann::json::accept(line), "every line of the journal is valid JSON");
}

}  // namespace starpo::fuzz
