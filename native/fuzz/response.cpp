#include "rollout/response_parser.h"

#include <memory>

#include "env/environment.h"
#include "targets.h"

namespace starpo::fuzz {

// The input is a response of a policy. Its actions are played.
void response(std::string_view input) {
  static const auto prototype = make_environment(
      "frozen-lake", R"({"size": 4, "p": 0.8, "is_slippery": false, "success_rate": 1, "observation_format": "grid"})");
  for (const bool think : {true, false}) {
    const ParsedResponse parsed = parse_response(input, think);
    require(parsed.format_valid == parsed.answer.has_value(), "exactly the valid responses have an answer");
    require(parsed.think.has_value() == (think && parsed.format_valid),
            "exactly the valid responses of a reasoning format have reasoning");
    const auto environment = prototype->clone();
    environment->reset(1, 0);
    bool done = false;
    for (const auto& action : parsed.actions) {
      require(!action.empty() && action.find("||") == std::string::npos, "every action is a single name");
      if (!done) done = environment->step(action).done;
    }
  }
}

}  // namespace starpo::fuzz
