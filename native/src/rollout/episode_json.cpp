#include "rollout/episode_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "env/registry.h"
#include "files/base64.h"
#include "files/float16.h"

namespace starpo {
namespace {

using json = nlohmann::json;

template <typename T>
std::string packed(const std::vector<T>& values) {
  return base64_encode({reinterpret_cast<const std::uint8_t*>(values.data()), values.size() * sizeof(T)});
}

std::string packed_float16(const std::vector<float>& values) {
  std::vector<std::uint16_t> halves(values.size());
  std::transform(values.begin(), values.end(), halves.begin(), to_float16);
  return packed(halves);
}

json terms_json(const std::vector<RewardTerm>& terms) {
  json object = json::object();
  for (const RewardTerm& term : terms) object[term.name] = term.value;
  return object;
}

// Returns the index of a character by the index of its first byte.
std::size_t character_index(const std::string& text, std::size_t byte) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(byte),
                                                [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

json claims_json(const std::vector<Claim>& claims, const std::string& reasoning) {
  json list = json::array();
  for (const Claim& claim : claims)
    if (!claim.holds)
      list.push_back({{"start", character_index(reasoning, claim.start)},
                      {"end", character_index(reasoning, claim.end)},
                      {"kind", claim.kind == ClaimKind::grounding ? "grounding" : "faithfulness"},
                      {"fact", claim.fact}});
  return {{"checked", claims.size()}, {"false", std::move(list)}};
}

json optional_text(const std::optional<std::string>& text) { return text ? json(*text) : json(nullptr); }

// first: index of the turn's first sampled token among those of the episode.
json tokens_json(const Turn& turn, const EpisodeRecord& record, std::size_t first) {
  const bool trained = !record.advantages.empty();
  json tokens{{"ids", packed(turn.ids)},
              {"logprobs", packed(turn.logprobs)},
              {"entropies", packed_float16(turn.entropies)},
              {"trained", packed(std::vector<std::uint8_t>(turn.ids.size(), trained ? 1 : 0))}};
  if (trained) {
    const auto own = record.advantages.subspan(first, turn.ids.size());
    tokens["advantages"] = packed_float16(std::vector<float>(own.begin(), own.end()));
  }
  if (!record.values.empty()) {
    const auto own = record.values.subspan(first, turn.ids.size());
    tokens["values"] = packed(std::vector<float>(own.begin(), own.end()));
  }
  return tokens;
}

// Replaces invalid UTF-8, since a response may end within a sequence.
std::string dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

nlohmann::json turn_json(const Turn& turn) {
  json executed = json::array();
  for (const ExecutedAction& action : turn.executed) {
    json line{{"action", action.action},       {"reward", action.reward}, {"board", action.board},
              {"effective", action.effective}, {"valid", action.valid},   {"done", action.done},
              {"success", action.success}};
    // Every flag is written for every environment, so that all files have the same keys.
    for (const EnvironmentType& type : environment_types())
      for (const std::string_view flag : type.step_flags) line[std::string(flag)] = false;
    for (const StepFlag& flag : action.flags) line[flag.name] = flag.value;
    executed.push_back(std::move(line));
  }
  json line{{"state", turn.state},
            {"response", turn.response},
            {"think", optional_text(turn.think)},
            {"answer", optional_text(turn.answer)},
            {"actions", turn.actions},
            {"format_valid", turn.format_valid},
            {"reward", turn.reward},
            {"penalty", turn.penalty},
            {"terms", terms_json(turn.terms)},
            {"executed", std::move(executed)}};
  if (turn.anchor) line["anchor"] = *turn.anchor;
  if (turn.omitted_tokens > 0) line["omitted_tokens"] = turn.omitted_tokens;
  if (turn.claims) line["claims"] = claims_json(*turn.claims, *turn.think);
  return line;
}

nlohmann::json episode_summary(const Episode& episode, const EpisodeRecord& record,
                               const EnvironmentConfig& environment) {
  json summary{{"id", record.id},
               {"iteration", record.iteration},
               {"split", record.split},
               {"environment", environment.label},
               {"group", episode.spec.group},
               {"member", episode.spec.index_in_group},
               {"seed", episode.spec.seed},
               {"reward", episode.score},
               {"success", episode.success},
               {"ended", name_of(episode.ended)},
               {"turns", episode.turns.size()},
               {"actions", episode.executed_actions()},
               {"tokens", episode.sampled_tokens()},
               {"kept", record.kept && !episode.is_void()},
               {"format_valid", std::all_of(episode.turns.begin(), episode.turns.end(),
                                            [](const Turn& turn) { return turn.format_valid; })}};
  if (episode.is_void()) summary["void"] = {{"reason", episode.failures.back()}};
  return summary;
}

std::string episode_json(const Episode& episode, const EpisodeRecord& record, const EnvironmentConfig& environment,
                         const Tokenizer& tokenizer) {
  json line = episode_summary(episode, record, environment);
  line["type"] = environment.type;
  line["config"] = json::parse(environment.config);
  for (const auto& [name, values] : episode.reset_info) line[name] = values;
  line["initial"] = episode.initial;
  line["reward_terms"] = terms_json(episode.terms);
  // A void episode can fail before its first turn.
  const auto prompt = episode.turns.empty() ? std::vector<std::int32_t>() : episode.turns.front().context_ids;
  line["prompt_text"] = tokenizer.decode(prompt);
  line["prompt_ids"] = packed(prompt);
  json& turns = line["steps"] = json::array();
  std::size_t first = 0;
  for (const Turn& turn : episode.turns) {
    json step = turn_json(turn);
    step["context_ids"] = packed(turn.context_ids);
    step["begins_context"] = turn.begins_context;
    step["tokens"] = tokens_json(turn, record, first);
    turns.push_back(std::move(step));
    first += turn.ids.size();
  }
  return dump(line);
}

}  // namespace starpo
