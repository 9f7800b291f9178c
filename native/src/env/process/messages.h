#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/environment.h"
#include "env/process/program_pool.h"

// The messages of docs/formats/process-environment.md and docs/formats/reward-program.md.
namespace starpo {

inline constexpr int kProcessProtocolVersion = 1;

// What the model sees after a reset or a step.
struct ProgramState {
  std::string observation;
  std::optional<std::string> board;
  std::optional<std::string> anchor;
  std::optional<std::vector<std::string>> actions;  // nullopt: those of hello
};

struct ProgramStep {
  ProgramState state;
  StepResult result;  // without `effective` unless the program reports it
  std::optional<bool> effective;
};

// A reward term of a reward program, unweighted.
struct ProgramTerm {
  std::string name;
  std::vector<double> by_turn;
};

// Parse a message of a program. Errors: EnvironmentFailure, with the key and the problem.
ProgramHello parse_hello(const nlohmann::json&);
ProgramState parse_reset_answer(const nlohmann::json&);
ProgramStep parse_step_answer(const nlohmann::json&);
// A number counts for the last of the episode's `turns`; a list has one number per turn.
std::vector<ProgramTerm> parse_score_answer(const nlohmann::json&, std::size_t turns);

// Returns the value of an integer, also of one written as 3.0, as some languages do; nullopt for anything else.
std::optional<std::int64_t> integer_in(const nlohmann::json&);

// Returns the start of a text, with valid UTF-8, for a message to the user.
std::string printable(std::string_view text, std::size_t limit);

// Returns the start of a text as a JSON string, for a message to the user.
std::string excerpt(std::string_view text);

}  // namespace starpo
