#include "env/protocol.h"

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "targets.h"

namespace starpo::fuzz {
namespace {

const std::array<std::unique_ptr<Environment>, 3>& environments() {
  static const std::array all{
      make_environment(
          "frozen-lake",
          R"({"size": 4, "p": 0.8, "is_slippery": true, "success_rate": 0.8, "observation_format": "grid_coord"})"),
      make_environment(
          "bandit",
          R"({"lo_arm_name": "Phoenix", "hi_arm_name": "Dragon", "lo_arm_score": 0.1, "hi_arm_loscore": 0, "hi_arm_hiscore": 1, "hi_arm_hiscore_prob": 0.25})"),
      make_environment("sokoban", R"({"dim_x": 6, "dim_y": 6, "num_boxes": 1, "max_steps": 10, "search_depth": 10,
        "grid_lookup": {"0": "#", "1": "_", "2": "O", "3": "√", "4": "X", "5": "P", "6": "S"}})"),
  };
  return all;
}

}  // namespace

// The first byte selects the environment. The rest is its standard input.
void env_protocol(std::string_view input) {
  if (input.empty()) return;
  const auto environment = environments()[static_cast<unsigned char>(input[0]) % environments().size()]->clone();
  std::istringstream requests{std::string(input.substr(1))};
  std::ostringstream answers;
  serve_environment(*environment, std::nullopt, requests, answers);
  std::istringstream lines(answers.str());
  for (std::string line; std::getline(lines, line);) {
    const auto answer = nlohmann::json::parse(line, nullptr, false);
    require(answer.is_object() && answer.contains("error") != answer.contains("observation"),
            "every answer is an error or an observation");
  }
}

}  // namespace starpo::fuzz
