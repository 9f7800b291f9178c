#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <numeric>

#include "algorithm/advantage.h"
#include "algorithm/filter.h"
#include "algorithm/objectives.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/json_lines.h"
#include "fields/field_reader.h"
#include "rollout/settings.h"

namespace starpo {
namespace {

using Json = nlohmann::ordered_json;

RequestError invalid(const std::string& path, const std::string& problem) {
  return {"request_invalid", path + ": " + problem};
}

// Values of keys that a request omits. run.json itself has no defaults.
const nlohmann::json& defaults() {
  static const auto values = nlohmann::json::parse(R"({
    "advantage": {"estimator": "grpo", "gamma": 1, "lambda": 1, "whiten": false, "rewards": "turn", "turn_gamma": 1,
                  "scale_by_std": true, "step_weight": 1, "history": 2, "history_exponent": 1, "episode_term": false},
    "reward": {"format_penalty": 0, "normalization": "none", "normalize_by": "group"},
    "kl": {"coefficient": 1, "estimator": "k1", "placement": "reward", "reference": ""},
    "filter": {"strategy": "fraction", "keep": 1, "count": 1, "score": "reward_std", "order": "largest"},
    "policy_loss": {"clip_low": 0.2, "clip_high": 0.2, "dual_clip": 0, "entropy_coefficient": 0,
                    "average": "trajectory", "mini_batch": 1, "epochs": 1}
  })");
  return values;
}

// Reads a section of run.json from a request.
template <class Section>
Section section_of(const Json& request, const std::string& name) {
  nlohmann::json object = nlohmann::json::object();
  auto& values = object[name] = defaults().at(name);
  if (const auto given = request.find(name); given != request.end()) {
    if (!given->is_object()) throw invalid(name, "must be an object with keys of run.json");
    values.update(nlohmann::json(*given));
  }
  Section section;
  try {
    read_fields(object, [&](FieldVisitor& visitor) { visitor.section(name, section); });
  } catch (const Error& error) {
    throw RequestError{error.code(), error.what()};
  }
  return section;
}

const Json& list_in(const Json& object, const std::string& key, const std::string& path) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array() || found->empty())
    throw invalid(path.empty() ? key : path + "." + key, "must be a list that is not empty");
  return *found;
}

double number_of(const Json& value, const std::string& path) {
  if (!value.is_number()) throw invalid(path, "must be a number");
  const double number = value.get<double>();
  // Their squares and sums stay finite.
  if (!(std::abs(number) <= 1e100)) throw invalid(path, "must be a number of at most 1e100 in size");
  return number;
}

int integer_of(const Json& value, const std::string& path, int minimum) {
  if (!value.is_number_integer() || value < minimum || value > 1'000'000'000)
    throw invalid(path, "must be an integer from " + std::to_string(minimum) + " to 1000000000");
  return value.get<int>();
}

std::vector<double> numbers_of(const Json& list, const std::string& path) {
  if (!list.is_array()) throw invalid(path, "must be a list of numbers");
  std::vector<double> numbers;
  for (const Json& value : list) numbers.push_back(number_of(value, path + "[" + std::to_string(numbers.size()) + "]"));
  return numbers;
}

// Returns a list with one number per token.
std::vector<double> per_token(const Json& object, const std::string& key, const std::string& path, std::size_t tokens) {
  if (!object.contains(key)) throw invalid(path + "." + key, "is missing");
  auto numbers = numbers_of(object[key], path + "." + key);
  if (numbers.size() != tokens)
    throw invalid(path + "." + key, "must have one number for each of " + std::to_string(tokens) + " tokens");
  return numbers;
}

TurnRewards turn_of(const Json& json, const std::string& path) {
  if (!json.is_object()) throw invalid(path, "must be an object");
  TurnRewards turn;
  if (!json.contains("tokens")) throw invalid(path + ".tokens", "is missing");
  turn.tokens = integer_of(json["tokens"], path + ".tokens", 1);
  if (turn.tokens > 1'000'000) throw invalid(path + ".tokens", "must be at most 1000000");
  double sum = 0;
  if (json.contains("terms")) {
    if (!json["terms"].is_object()) throw invalid(path + ".terms", "must be an object of numbers");
    for (const auto& [name, value] : json["terms"].items()) sum += number_of(value, path + ".terms." + name);
  }
  turn.reward = json.contains("reward") ? number_of(json["reward"], path + ".reward") : sum;
  if (json.contains("terms") && std::abs(turn.reward - sum) > 1e-9 * std::max(1.0, std::abs(sum)))
    throw invalid(path + ".reward", "must be the sum of the terms");
  if (json.contains("state"))
    turn.state = json["state"].is_string() ? json["state"].get<std::string>() : json["state"].dump();
  return turn;
}

// Numbers keys, such as groups, in order of first appearance.
class Numbering {
 public:
  int number_of(const std::string& key) {
    return numbers_.try_emplace(key, static_cast<int>(numbers_.size())).first->second;
  }

 private:
  std::map<std::string, int> numbers_;
};

std::vector<EpisodeRewards> episodes_of(const Json& request, const AdvantageConfig& config, const KlConfig& kl) {
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
      episode.turns.push_back(turn_of(turn, path + ".turns[" + std::to_string(episode.turns.size()) + "]"));
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
  auto episodes = episodes_of(request, config, section_of<KlConfig>(request, "kl"));
  if (reward.normalization != RewardNormalization::none && config.rewards == RewardPosition::turn &&
      reads_turn_rewards(config.estimator))
    throw RequestError{"config_invalid",
                       "reward.normalization: must be none: it gives one reward per episode, but advantage.rewards is "
                       "turn"};
  normalize_rewards(episodes, reward.normalization, reward.normalize_by);

  std::vector<std::vector<double>> advantages;
  std::vector<int> environments;
  Json targets = Json::array(), masks = Json::array();
  for (TokenAdvantages& own : token_advantages(episodes, config)) {
    environments.push_back(episodes[advantages.size()].environment);
    advantages.push_back(std::move(own.advantages));
    targets.push_back(own.value_targets);
    masks.push_back(own.value_mask);
  }
  if (config.whiten) whiten(advantages, environments);
  Json answer{{"advantages", advantages}};
  answer["value_targets"] = uses_critic(config.estimator) ? targets : Json(nullptr);
  answer["value_mask"] = uses_critic(config.estimator) ? masks : Json(nullptr);
  return answer;
}

struct LossSequence {
  std::vector<double> logprobs, rollout_logprobs, advantages, entropies;
};

LossSequence sequence_of(const Json& json, const std::string& path, bool needs_entropies) {
  if (!json.is_object()) throw invalid(path, "must be an object");
  LossSequence sequence;
  if (!json.contains("logprobs")) throw invalid(path + ".logprobs", "is missing");
  sequence.logprobs = numbers_of(json["logprobs"], path + ".logprobs");
  const std::size_t tokens = sequence.logprobs.size();
  sequence.rollout_logprobs = per_token(json, "rollout_logprobs", path, tokens);
  sequence.advantages = per_token(json, "advantages", path, tokens);
  sequence.entropies = needs_entropies ? per_token(json, "entropies", path, tokens) : std::vector<double>(tokens);
  if (json.contains("turn_lengths")) {
    std::size_t sum = 0;
    for (const Json& length : list_in(json, "turn_lengths", path))
      sum += static_cast<std::size_t>(integer_of(length, path + ".turn_lengths", 0));
    if (sum != tokens)
      throw invalid(path + ".turn_lengths", "must add up to the number of tokens, " + std::to_string(tokens));
  }
  return sequence;
}

Json compute_policy_loss(const Json& request) {
  const auto config = section_of<PolicyLossConfig>(request, "policy_loss");
  std::vector<LossSequence> sequences;
  std::vector<int> lengths;
  for (const Json& json : list_in(request, "sequences", "")) {
    sequences.push_back(
        sequence_of(json, "sequences[" + std::to_string(sequences.size()) + "]", config.entropy_coefficient != 0));
    lengths.push_back(static_cast<int>(sequences.back().logprobs.size()));
  }
  int longest = 1;
  if (config.average == LossAverage::fixed_length) {
    if (!request.contains("longest")) throw invalid("longest", "is missing: policy_loss.average is fixed_length");
    longest = integer_of(request["longest"], "longest", std::max(1, *std::ranges::max_element(lengths)));
  }
  const auto weights = token_weights(lengths, config.average, longest);
  PolicyLossSums sums;
  std::vector<std::vector<double>> gradients;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const auto& own = sequences[i];
    auto& gradient = gradients.emplace_back(own.logprobs.size());
    std::vector<double> entropy_gradient(gradient.size());
    policy_loss(std::span<const double>(own.logprobs), own.entropies, own.rollout_logprobs, own.advantages, weights[i],
                config, sums, gradient, entropy_gradient);
  }
  const auto share = [&](double count) { return sums.tokens > 0 ? count / static_cast<double>(sums.tokens) : 0; };
  return {{"loss", sums.loss},
          {"gradient", gradients},
          {"clip_fraction_low", share(sums.clipped_low)},
          {"clip_fraction_high", share(sums.clipped_high)},
          {"approximate_kl", share(sums.log_ratio)}};
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
    reject_unknown_keys(request, {"policy_loss", "sequences", "longest"});
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
