#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace starpo {

// A reply taken apart. Without a valid format think and answer hold nothing and there are no actions.
struct ParsedReply {
  bool format_valid = false;
  std::optional<std::string> think;
  std::optional<std::string> answer;
  std::vector<std::string>
      actions;  // names split at "||", stripped, blanks dropped; not yet checked against the environment
};

// The first match of think block, optional white space, answer block (without thinking: of an answer block). reply
// includes the forced prefix. What stands around the match is ignored.
ParsedReply parse_reply(std::string_view reply, bool think);

}  // namespace starpo
