#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace starpo {

// The parts of a response. If the format is invalid, think, answer and actions are empty.
struct ParsedResponse {
  bool format_valid = false;
  std::optional<std::string> think;
  std::optional<std::string> answer;
  // Names split at "||" and stripped, without blanks; not checked against the environment.
  std::vector<std::string> actions;
};

// Parses the first match of a think block, optional whitespace and an answer block (an answer block only if !think).
// Ignores text around the match. `response` includes the forced prefix.
ParsedResponse parse_response(std::string_view response, bool think);

}  // namespace starpo
