#pragma once

#include <string>

namespace starpo {

class FieldVisitor;

// Settings of an environment that is a program of the user (docs/formats/process-environment.md).
struct ProcessConfig {
  std::string command;    // for /bin/sh
  std::string directory;  // absolute folder in which the command runs
  int processes = 0;
  int episodes_per_process = 0;  // at most; the program may support fewer
  double start_seconds = 0;      // time limit from the start of a process to its hello
  double answer_seconds = 0;     // time limit per answer
};

void describe(FieldVisitor&, ProcessConfig&);

// Returns the digest under which the user's consent to a command is stored: SHA-256 of the directory, a line break and
// the command.
std::string command_digest(const ProcessConfig&);

// The environment variable with the digests of confirmed commands, separated by commas. core sets it for every trainer
// that it starts. A configuration can't confirm its own command.
inline constexpr const char* kConfirmedCommands = "STARPO_CONFIRMED_COMMANDS";

// Throws command_not_confirmed unless the command's digest is in kConfirmedCommands.
void require_confirmed(const ProcessConfig&);

}  // namespace starpo
