#include "env/process/messages.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <regex>

#include "base/counted.h"

namespace starpo {
namespace {

using json = nlohmann::json;

[[noreturn]] void fail(const std::string& problem, const json& message) {
  throw EnvironmentFailure("it wrote a message in which " + problem + ": " +
                           excerpt(message.dump(-1, ' ', false, json::error_handler_t::replace)));
}

void check_keys(const json& message, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : message.items())
    if (std::ranges::find(known, key) == known.end()) fail("the key " + excerpt(key) + " is unknown", message);
}

std::string read_text(const json& message, const char* key) {
  const auto found = message.find(key);
  if (found == message.end() || !found->is_string()) fail(std::string(key) + " is not a string", message);
  return found->get<std::string>();
}

std::optional<std::string> read_optional_text(const json& message, const char* key) {
  const auto found = message.find(key);
  if (found == message.end() || found->is_null()) return std::nullopt;
  return read_text(message, key);
}

std::optional<bool> read_flag(const json& message, const char* key) {
  const auto found = message.find(key);
  if (found == message.end()) return std::nullopt;
  if (!found->is_boolean()) fail(std::string(key) + " is not true or false", message);
  return found->get<bool>();
}

double read_finite(const json& message, const json& value, const std::string& name) {
  if (!value.is_number() || !std::isfinite(value.get<double>())) fail(name + " is not a finite number", message);
  return value.get<double>();
}

// Null and an absent key mean free text.
std::optional<std::vector<std::string>> read_actions(const json& message, const json& parent) {
  const auto found = parent.find("actions");
  if (found == parent.end() || found->is_null()) return std::nullopt;
  const bool valid = found->is_array() && !found->empty() && std::ranges::all_of(*found, [](const json& name) {
                       return name.is_string() && !name.get<std::string>().empty();
                     });
  if (!valid) fail("actions is neither a list of names nor null", message);
  return found->get<std::vector<std::string>>();
}

ProgramState read_state(const json& message) {
  return {read_text(message, "observation"), read_optional_text(message, "board"),
          read_optional_text(message, "anchor"), read_actions(message, message)};
}

}  // namespace

ProgramHello parse_hello(const json& message) {
  const auto found = message.find("hello");
  if (found == message.end() || !found->is_object()) fail("hello is missing", message);
  check_keys(message, {"hello"});
  check_keys(*found, {"version", "name", "actions", "episodes"});
  const auto version = found->find("version");
  if (version == found->end() || *version != kProcessProtocolVersion)
    fail("hello.version is not " + std::to_string(kProcessProtocolVersion), message);
  ProgramHello hello;
  hello.name = read_text(*found, "name");
  hello.actions = read_actions(message, *found).value_or(std::vector<std::string>{});
  if (const auto episodes = found->find("episodes"); episodes != found->end()) {
    const auto count = integer_in(*episodes);
    if (!count || *count < 1 || *count > 4096) fail("hello.episodes is not an integer from 1 to 4096", message);
    hello.episodes = static_cast<int>(*count);
  }
  return hello;
}

ProgramState parse_reset_answer(const json& message) {
  check_keys(message, {"id", "observation", "board", "anchor", "actions"});
  return read_state(message);
}

ProgramStep parse_step_answer(const json& message) {
  check_keys(message, {"id", "observation", "board", "anchor", "actions", "reward", "terms", "done", "success", "valid",
                       "effective"});
  ProgramStep step{read_state(message), {}, read_flag(message, "effective")};
  StepResult& result = step.result;
  const auto reward = message.find("reward");
  result.reward = read_finite(message, reward == message.end() ? json() : *reward, "reward");
  result.reward_is_integer = reward->is_number_integer();
  const auto done = read_flag(message, "done");
  if (!done) fail("done is missing", message);
  result.done = *done;
  result.success = read_flag(message, "success").value_or(false);
  result.valid = read_flag(message, "valid").value_or(true);
  if (const auto terms = message.find("terms"); terms != message.end()) {
    if (!terms->is_object()) fail("terms is not an object", message);
    double sum = 0;
    for (const auto& [name, value] : terms->items()) {
      result.terms.push_back({name, read_finite(message, value, "terms." + name)});
      sum += result.terms.back().value;
    }
    if (std::abs(sum - result.reward) > 1e-6 * std::max(1.0, std::abs(sum)))
      fail("the terms do not add up to the reward", message);
  } else {
    result.terms.push_back({"environment", result.reward});
  }
  return step;
}

std::vector<ProgramTerm> parse_score_answer(const json& message, std::size_t turns) {
  constexpr std::size_t limit = 32;
  check_keys(message, {"id", "terms"});
  const auto found = message.find("terms");
  if (found == message.end() || !found->is_object()) fail("terms is not an object", message);
  if (found->size() > limit) fail("terms has more than " + std::to_string(limit) + " names", message);
  std::vector<ProgramTerm> terms;
  for (const auto& [name, value] : found->items()) {
    static const std::regex pattern("[A-Za-z0-9_.-]{1,64}");
    if (!std::regex_match(name, pattern))
      fail("the name " + excerpt(name) + " is not made of 1 to 64 letters, digits, underscores, dots and hyphens",
           message);
    const std::string path = "terms." + name;
    ProgramTerm& term = terms.emplace_back(ProgramTerm{name, std::vector<double>(turns)});
    if (!value.is_array()) {
      term.by_turn.back() = read_finite(message, value, path);
      continue;
    }
    if (value.size() != turns)
      fail(path + " has " + counted(value.size(), "number") + " for " + counted(turns, "turn"), message);
    for (std::size_t turn = 0; turn < turns; ++turn) term.by_turn[turn] = read_finite(message, value[turn], path);
  }
  return terms;
}

std::optional<std::int64_t> integer_in(const json& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  constexpr double limit = 1LL << 53;
  const double number = value.is_number() ? value.get<double>() : limit;
  if (std::floor(number) != number || std::abs(number) >= limit) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::string printable(std::string_view text, std::size_t limit) {
  const std::string start(text.substr(0, limit));
  return json::parse(json(start).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t limit = 200;
  const std::string start(text.substr(0, limit));
  return json(start).dump(-1, ' ', true, json::error_handler_t::replace) + (text.size() > limit ? " ..." : "");
}

}  // namespace starpo
