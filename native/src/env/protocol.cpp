#include "env/protocol.h"

#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/error.h"

namespace starpo {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kForms =
    R"(a request must be {"reset": seed}, optionally with "split", {"step": "action"} or {"close": true})";

Json malformed_line(const std::string& message) {
  return {{"error", {{"code", "malformed_line"}, {"message", message}}}};
}

Json error_response(const Error& error) {
  return {{"error", {{"code", error.code()}, {"message", error.what()}, {"hint", error.hint()}}}};
}

Json board_json(const Environment& environment) {
  const auto board = environment.board();
  return board ? Json(*board) : Json(nullptr);
}

Json answer_reset(Environment& environment, const Json& seed, const Json& split,
                  std::optional<std::uint32_t> noise_seed) {
  const bool whole = seed.is_number_unsigned() && seed.get<std::uint64_t>() <= 0x7fffffffffffffffull;
  if (!whole) return malformed_line("reset requires an integer from 0 to 2^63-1");
  if (split != "train" && split != "validation") return malformed_line("split must be train or validation");
  environment.set_split(split == "train" ? Split::train : Split::validation);
  try {
    const auto level = seed.get<std::uint64_t>();
    if (noise_seed) {
      const NoiseStream noise = level_noise(*noise_seed, level);
      environment.reset(level, &noise);
    } else {
      environment.reset(level, nullptr);
    }
  } catch (const Error& error) {
    return error_response(error);
  }
  Json info = Json::object();
  for (const auto& [name, values] : environment.reset_info()) info[name] = values;
  info.update(Json::parse(environment.info_json(true)));
  return {{"observation", environment.observation()},
          {"board", board_json(environment)},
          {"actions", environment.actions()},
          {"info", info}};
}

Json answer_step(Environment& environment, const Json& action) {
  if (!action.is_string()) return malformed_line("step requires the name of an action");
  try {
    const auto result = environment.step(action.get<std::string>());
    Json reward = result.reward;
    if (result.reward_is_integer) reward = static_cast<std::int64_t>(result.reward);
    Json info{{"effective", result.effective},
              {"valid", result.valid},
              {"success", result.success},
              {"slipped", result.flag("slipped")}};
    info.update(Json::parse(environment.info_json(false)));
    return {{"observation", environment.observation()},
            {"board", board_json(environment)},
            {"reward", reward},
            {"done", result.done},
            {"info", info}};
  } catch (const Error& error) {
    return error_response(error);
  }
}

}  // namespace

void serve_environment(Environment& environment, std::optional<std::uint32_t> noise_seed, std::istream& requests,
                       std::ostream& answers) {
  for (std::string line; std::getline(requests, line);) {
    const auto request = Json::parse(line, nullptr, false);
    Json answer;
    const bool has_split = request.is_object() && request.contains("reset") && request.contains("split");
    if (!request.is_object() || request.size() != (has_split ? 2 : 1))
      answer = malformed_line(kForms);
    else if (request.contains("reset"))
      answer = answer_reset(environment, request["reset"], has_split ? request["split"] : Json("train"), noise_seed);
    else if (request.contains("step"))
      answer = answer_step(environment, request["step"]);
    else if (request.contains("close") && request["close"] == true)
      return;
    else
      answer = malformed_line(kForms);
    answers << answer.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
  }
}

}  // namespace starpo
