#include <algorithm>
#include <cmath>
#include <iostream>

#include "algorithm/advantage.h"
#include "algorithm/filter.h"
#include "algorithm/objectives.h"
#include "cli/commands.h"
#include "cli/compute_request.h"
#include "rollout/reward_terms.h"
#include "rollout/settings.h"

namespace starpo {
namespace {

// Adds the turn's terms to those of its episode. A reward without terms is a term too.
TurnRewards turn_of(const Json& json, const std::string& path, const RewardConfig& reward,
                    std::vector<ScoreTerm>& terms) {
  if (!json.is_object()) throw invalid(path, "must be an object");
  TurnRewards turn;
  if (!json.contains("tokens")) throw invalid(path + ".tokens", "is missing");
  turn.tokens = integer_of(json["tokens"], path + ".tokens", 1, 1'000'000);
  double sum = 0;
  if (json.contains("terms")) {
    if (!json["terms"].is_object()) throw invalid(path + ".terms", "must be an object of numbers");
    for (const auto& [name, value] : json["terms"].items()) {
      terms.push_back({name, number_of(value, path + ".terms." + name), weight_of_term(name, reward)});
      sum += terms.back().value;
    }
  }
  turn.reward = json.contains("reward") ? number_of(json["reward"], path + ".reward") : sum;
  if (json.contains("terms") && std::abs(turn.reward - sum) > 1e-9 * std::max(1.0, std::abs(sum)))
    throw invalid(path + ".reward", "must be the sum of the terms");
  if (!json.contains("terms")) terms.push_back({"reward", turn.reward, 1});
  if (json.contains("state"))
    turn.state = json["state"].is_string() ? json["state"].get<std::string>() : json["state"].dump();
  return turn;
}

// Reads components of the score, which an episode receives in its last turn: terms with weight 1.
void add_components(const Json& json, const std::string& path, EpisodeRewards& episode) {
  if (!json.contains("components")) return;
  int index = 0;
  for (const double value : numbers_of(json["components"], path + ".components")) {
    episode.terms.push_back({"components[" + std::to_string(index++) + "]", value, 1});
    episode.turns.back().reward += value;
  }
}

std::vector<EpisodeRewards> episodes_of(const Json& request, const AdvantageConfig& config, const RewardConfig& reward,
                                        const KlConfig& kl) {
  std::vector<EpisodeRewards> episodes;
  Numbering groups, environments;
  for (const Json& json : list_in(request, "episodes", "")) {
    const std::string path = "episodes[" + std::to_string(episodes.size()) + "]";
    if (!json.is_object()) throw invalid(path, "must be an object");
    EpisodeRewards episode;
    const std::string environment = json.value("environment", Json(0)).dump();
    if (!json.contains("group")) throw invalid(path + ".group", "is missing");
    episode.environment = environments.number_of(environment);
    episode.group = groups.number_of(json["group"].dump() + " " + environment);
    for (const Json& turn : list_in(json, "turns", path))
      episode.turns.push_back(
          turn_of(turn, path + ".turns[" + std::to_string(episode.turns.size()) + "]", reward, episode.terms));
    add_components(json, path, episode);
    if (uses_critic(config.estimator)) episode.values = per_token(json, "values", path, episode.tokens());
    if (json.contains("kl")) {
      episode.kl_rewards = per_token(json, "kl", path, episode.tokens());
      for (double& reward : episode.kl_rewards) reward *= -kl.coefficient;
    }
    episodes.push_back(std::move(episode));
  }
  return episodes;
}

Json compute_advantages(const Json& request) {
  const auto config = section_of<AdvantageConfig>(request, "advantage");
  const auto reward = section_of<RewardConfig>(request, "reward");
  const auto kl = section_of<KlConfig>(request, "kl");
  if (kl.placement != KlPlacement::reward)
    throw RequestError{"config_invalid", "kl.placement: must be reward: the loss is not part of this request"};
  auto episodes = episodes_of(request, config, reward, kl);
  if (const auto conflict = conflict_with_estimator(reward.normalization_config(), config); !conflict.empty())
    throw RequestError{"config_invalid", "reward.normalization: " + conflict};
  normalize_rewards(episodes, reward.normalization_config());

  std::vector<std::vector<double>> advantages;
  std::vector<int> environments;
  Json targets = Json::array(), masks = Json::array();
  auto estimated = token_advantages(episodes, config);
  const auto trained = passes_gate(episodes, estimated, config.gate);
  constexpr int untrained = -1;  // whitened apart
  for (TokenAdvantages& own : estimated) {
    const std::size_t i = advantages.size();
    environments.push_back(trained[i] ? episodes[i].environment : untrained);
    advantages.push_back(std::move(own.advantages));
    targets.push_back(own.value_targets);
    masks.push_back(own.value_mask);
  }
  if (config.whiten) whiten(advantages, environments, config.whiten_over);
  for (std::size_t i = 0; i < trained.size(); ++i)
    if (!trained[i]) std::ranges::fill(advantages[i], 0);
  Json answer{{"advantages", advantages}};
  answer["value_targets"] = uses_critic(config.estimator) ? targets : Json(nullptr);
  answer["value_mask"] = uses_critic(config.estimator) ? masks : Json(nullptr);
  if (config.gate > 0) answer["trained"] = trained;
  return answer;
}

Json compute_filter(const Json& request) {
  const auto config = section_of<FilterConfig>(request, "filter");
  std::vector<ScoredGroup> groups;
  for (const Json& json : list_in(request, "groups", "")) {
    const std::string path = "groups[" + std::to_string(groups.size()) + "]";
    auto numbers = numbers_of(json, path);
    if (numbers.empty()) throw invalid(path, "must have a score for each episode");
    groups.push_back({0, numbers, std::move(numbers)});
  }
  const auto result = filter_groups(groups, config);
  Json kept = Json::array(), warnings = Json::array();
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (result.kept[g]) kept.push_back(g);
  for (const auto& warning : result.warnings) warnings.push_back(warning.text);
  return {{"kept", kept}, {"warnings", warnings}};
}

void reject_unknown_keys(const Json& request, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : request.items())
    if (std::ranges::find(known, key) == known.end()) throw invalid(key, "is not a key of this request");
}

// Throws if a result is not finite, which JSON can't express.
void require_finite(const Json& answer) {
  if (answer.is_number_float() && !std::isfinite(answer.get<double>()))
    throw RequestError{"non_finite_result", "the result is not finite: the inputs are too large"};
  if (answer.is_structured())
    for (const Json& element : answer) require_finite(element);
}

Json compute(const Json& request) {
  Json answer;
  if (!request.is_object()) throw RequestError{"malformed_line", "a line must be a JSON object"};
  if (request.contains("advantage")) {
    reject_unknown_keys(request, {"advantage", "reward", "kl", "episodes"});
    answer = compute_advantages(request);
  } else if (request.contains("policy_loss")) {
    reject_unknown_keys(request, {"policy_loss", "correction", "kl", "sequences", "longest"});
    answer = compute_policy_loss(request);
  } else if (request.contains("filter")) {
    reject_unknown_keys(request, {"filter", "groups"});
    answer = compute_filter(request);
  } else {
    throw RequestError{"malformed_line", "a line must have one of the keys advantage, policy_loss and filter"};
  }
  require_finite(answer);
  return answer;
}

}  // namespace

void compute_lines(std::istream& requests, std::ostream& answers) {
  answer_lines(requests, answers, [](const Json& request) {
    try {
      return compute(request);
    } catch (const std::bad_alloc&) {
      throw RequestError{"out_of_memory", "not enough memory for this request"};
    }
  });
}

int compute_command() {
  compute_lines(std::cin, std::cout);
  return 0;
}

}  // namespace starpo
