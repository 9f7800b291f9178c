#include "rollout/response_parser.h"

#include <memory>

#include "env/environment.h"
#include "targets.h"

namespace starpo::fuzz {

// The input is what a policy wrote; its actions are played.
void reply(std::string_view input) {
  static const auto prototype = make_environment(
      "frozen-lake", R"({"size": 4, "p": 0.8, "is_slippery": false, "success_rate": 1, "observation_format": "grid"})");
  for (const bool think : {true, false}) {
    const ParsedResponse parsed = parse_response(input, think);
    require(parsed.format_valid == parsed.answer.has_value(), "a valid reply has an answer, an invalid one hasn't");
    require(parsed.think.has_value() == (think && parsed.format_valid), "a thought is there where it is asked for");
    const auto environment = prototype->clone();
    environment->reset(1, 0);
    bool done = false;
    for (const auto& action : parsed.actions) {
      require(!action.empty() && action.find("||") == std::string::npos, "an action is one name");
      if (!done) done = environment->step(action).done;
    }
  }
}

}  // namespace starpo::fuzz
