#include "cli/commands.h"

#include <algorithm>
#include <iostream>
#include <optional>

#include "base/error.h"
#include "cli/json_lines.h"
#include "config/run_config.h"
#include "rollout/episode_json.h"
#include "rollout/episode_player.h"
#include "train/checkpoint/pins.h"
#include "train/context/levels.h"
#include "train/context/playground.h"

namespace starpo {
namespace {

using Json = nlohmann::ordered_json;

int find_environment(const RunConfig& config, const std::string& label) {
  const auto& all = config.environments;
  const auto found = std::ranges::find(all, label, &EnvironmentConfig::label);
  if (found != all.end()) return static_cast<int>(found - all.begin());
  std::string labels;
  for (const auto& each : all) labels += (labels.empty() ? "" : ", ") + each.label;
  throw Error("environment_unknown", "the run has no environment " + label, "use one of: " + labels);
}

// Plays episodes of one environment of a run. The other process samples the tokens.
class EpisodeServer {
 public:
  EpisodeServer(const RunConfig& config, const Playground& playground, int environment)
      : config_(config), playground_(playground), environment_(environment) {}

  Json answer(const Json& request) {
    if (request.is_object() && request.size() == 1) {
      if (request.contains("level")) return begin(request["level"]);
      if (request.contains("response")) return finish_turn(request["response"]);
      if (request.contains("text")) return {{"text", response_text(request["text"])}};
    }
    throw malformed(R"(a request must be {"level": n}, {"response": [...]} or {"text": [...]})");
  }

 private:
  static RequestError malformed(const std::string& message) { return {"malformed_line", message}; }

  Json begin(const Json& level) {
    constexpr std::int64_t max_level = 1000000;
    if (!level.is_number_integer() || level < 1 || level > max_level)
      throw malformed("level must be an integer from 1 to " + std::to_string(max_level));
    player_.reset();
    try {
      player_.emplace(playground_.rules[environment_], playground_.prototypes[environment_]->clone(),
                      evaluation_episode(config_, environment_, level.get<int>() - 1));
    } catch (const Error& error) {
      throw RequestError{error.code(), error.what(), error.hint()};
    }
    const Episode& episode = player_->episode();
    Json info = Json::object();
    for (const auto& [name, values] : episode.reset_info) info[name] = values;
    return {{"initial", episode.initial},
            {"actions", episode.action_names},
            {"info", info},
            {"stop_ids", playground_.chat.stop_ids()},
            {"prompt", player_->prompt()}};
  }

  Json finish_turn(const Json& response) {
    if (!player_ || player_->finished())
      throw RequestError{"no_episode", "no episode is active: it has ended or was not started"};
    const auto ids = response_ids(response);
    const auto is_stop = [this](std::int32_t id) { return playground_.chat.ends_response(id); };
    const auto limit = static_cast<std::size_t>(player_->response_tokens_left());
    if (ids.empty() || ids.size() > limit || std::any_of(ids.begin(), ids.end() - 1, is_stop) ||
        (ids.size() < limit && !is_stop(ids.back())))
      throw malformed("a response must end at its first stop id or have " + std::to_string(limit) + " ids");

    const auto turn = player_->episode().turns.size() - 1;
    std::vector<std::int32_t> context;
    try {
      for (const auto id : ids) context = player_->accept(id, 0, 0);
    } catch (const Error& error) {
      throw RequestError{error.code(), error.what(), error.hint()};
    }
    const Episode& episode = player_->episode();
    return {{"turn", turn_json(episode.turns[turn])},
            {"success", episode.success},
            {"ended", player_->finished() ? Json(name_of(episode.ended)) : Json(nullptr)},
            {"context", context},
            {"begins_context", !player_->finished() && player_->begins_context()}};
  }

  std::string response_text(const Json& ids) const {
    return playground_.chat.forced_prefix() + playground_.tokenizer.decode(response_ids(ids));
  }

  std::vector<std::int32_t> response_ids(const Json& ids) const {
    if (!is_id_list(ids)) throw malformed("token ids must be an array of integers");
    return token_ids(ids, playground_.tokenizer.vocab_size());
  }

  const RunConfig& config_;
  const Playground& playground_;
  int environment_;
  std::optional<EpisodePlayer> player_;
};

}  // namespace

int play_command(const std::filesystem::path& run_directory, int checkpoint, const std::string& label) {
  const RunConfig config = read_run_config(run_directory / "run.json");
  const int environment = find_environment(config, label);
  const Playground playground(config, run_directory / checkpoint_path(checkpoint));
  EpisodeServer server(config, playground, environment);
  answer_lines(std::cin, std::cout, [&](const Json& request) { return server.answer(request); });
  return 0;
}

}  // namespace starpo
