#include "cli/commands.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "config/run_config.h"
#include "model/folder.h"
#include "rollout/episode_player.h"
#include "train/context/levels.h"
#include "train/context/playground.h"
#include "train/context/trainer_state.h"
#include "train/replica/engine_needs.h"

namespace starpo {
namespace {

using Json = nlohmann::ordered_json;

Json error_json(const Error& error) {
  return {{"code", error.code()}, {"message", error.what()}, {"hint", error.hint()}};
}

// Splits a prompt into messages at the ids of control tokens; text that looks like a control token does not split it.
// The last message is the start of the response.
Json messages_of(const Playground& playground, const std::vector<std::int32_t>& ids) {
  const auto start = playground.tokenizer.token_id("<|im_start|>"), end = playground.chat.turn_end();
  Json messages = Json::array();
  for (auto at = ids.begin(); at != ids.end();) {
    const auto from = std::find(at, ids.end(), start);
    if (from == ids.end()) break;
    at = std::find(from, ids.end(), end);
    const std::string text = playground.tokenizer.decode(std::span(from + 1, at));
    const auto line = text.find('\n');
    messages.push_back(
        {{"role", text.substr(0, line)}, {"content", line == std::string::npos ? "" : text.substr(line + 1)}});
  }
  return messages;
}

// Returns the levels of the environment's first groups. An environment with share 0 has none.
Json samples_of(const RunConfig& config, const Playground& playground, int environment, int levels) {
  Json samples = Json::array();
  for (int iteration = 1; iteration <= config.iterations && static_cast<int>(samples.size()) < levels; ++iteration) {
    const auto before = samples.size();
    for (const EpisodeSpec& spec : training_episodes(config, iteration)) {
      if (spec.environment != environment || spec.index_in_group != 0 || static_cast<int>(samples.size()) == levels)
        continue;
      const EpisodePlayer player(playground.rules[environment], playground.prototypes[environment]->clone(), spec);
      samples.push_back({{"seed", spec.seed},
                         {"messages", messages_of(playground, player.prompt())},
                         {"tokens", player.prompt().size()}});
    }
    if (samples.size() == before) break;
  }
  return samples;
}

Json prompts_of(const RunConfig& config, const Playground& playground, int levels) {
  Json prompts = Json::array();
  for (std::size_t i = 0; i < config.environments.size(); ++i) {
    Json entry{{"label", config.environments[i].label},
               {"type", config.environments[i].type},
               {"samples", Json::array()},
               {"problem", nullptr}};
    try {
      entry["samples"] = samples_of(config, playground, static_cast<int>(i), levels);
    } catch (const Error& error) {
      entry["problem"] = error_json(error);
    }
    prompts.push_back(std::move(entry));
  }
  return prompts;
}

// Plans the memory of a CPU only: a GPU would allocate what it plans.
Json memory_of(const RunConfig& config, const ModelConfig& model) {
  Json memory{{"plan", nullptr}, {"problem", nullptr}};
  try {
    ThreadPool threads(1);
    const auto engine = make_engine(engine_settings(config), threads);
    if (engine->preallocates()) return memory;
    EngineNeeds needs = engine_needs(config, model);
    if (config.optimizer.micro_batch_tokens == 0)
      needs.pass_tokens = std::max(engine->default_pass_tokens(needs), needs.context);
    memory["plan"] = Json::parse(memory_plan_json(engine->reserve(needs)));
  } catch (const Error& error) {
    memory["problem"] = error_json(error);
  }
  return memory;
}

}  // namespace

int preview_command(const std::filesystem::path& run_json, int levels) {
  const RunConfig config = run_json == "-" ? parse_run_config(std::string(std::istreambuf_iterator<char>(std::cin), {}))
                                           : read_run_config(run_json);
  const Playground playground(config, config.start.model);
  const ModelConfig model = read_model_folder_config(config.start.model);
  check_vocabulary(playground.tokenizer, model);
  const Json preview{{"prompts", prompts_of(config, playground, levels)}, {"memory", memory_of(config, model)}};
  std::cout << preview.dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
  return 0;
}

}  // namespace starpo
