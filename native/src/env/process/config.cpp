#include "env/process/config.h"

#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "fields/field_visitor.h"
#include "files/sha256.h"

namespace starpo {

void describe(FieldVisitor& v, ProcessConfig& c) {
  v.text("command", c.command, {.min_length = 1, .max_length = 4096});
  v.text("directory", c.directory, {.pattern = "/[^\\n]*", .max_length = 256});
  v.integer("processes", c.processes, 1, 256);
  v.integer("episodes_per_process", c.episodes_per_process, 1, 4096);
  v.number("start_seconds", c.start_seconds, 0.1, 3600);
  v.number("answer_seconds", c.answer_seconds, 0.1, 86400);
}

std::string command_digest(const ProcessConfig& config) { return sha256(config.directory + "\n" + config.command); }

void require_confirmed(const ProcessConfig& config) {
  const char* variable = std::getenv(kConfirmedCommands);
  const std::string digest = command_digest(config);
  if (variable && std::string_view(variable).find(digest) != std::string_view::npos) return;
  throw Error("command_not_confirmed",
              "the command \"" + config.command + "\" in " + config.directory + " was not confirmed",
              "confirm it in the app, or with `starpo env allow`; run only commands that you trust");
}

}  // namespace starpo
