#include "cli/compute_request.h"

#include <algorithm>
#include <cmath>

namespace starpo {
namespace {

// Values of keys that a request omits. run.json itself has no defaults.
const nlohmann::json& defaults() {
  static const auto values = nlohmann::json::parse(R"({
    "advantage": {"estimator": "grpo", "gamma": 1, "lambda": 1, "whiten": false, "whiten_over": "tokens", "rewards": "turn", "turn_gamma": 1,
                  "scale_by_std": true, "step_weight": 1, "history": 2, "history_exponent": 1, "episode_term": false,
                  "gate": 0},
    "reward": {"environment_weight": 1, "format_penalty": -1, "step_cost": 1, "success_bonus": 1, "length_cost": 1,
               "length_buffer": 0, "grounding_weight": 1, "faithfulness_weight": 1, "normalization": "none",
               "normalize_by": "group", "normalize_terms": false,
               "program": {"command": "", "directory": "", "processes": 1, "seconds": 60, "weight": 1}},
    "kl": {"coefficient": 1, "estimator": "k1", "placement": "reward", "reference": ""},
    "filter": {"strategy": "fraction", "keep": 1, "count": 1, "score": "reward_std", "order": "largest"},
    "policy_loss": {"objective": "clip", "ratio_level": "token", "clip_low": 0.2, "clip_high": 0.2,
                    "clip_turn_factor": 1, "dual_clip": 0, "tau_positive": 1, "tau_negative": 1.05,
                    "entropy_coefficient": 0, "entropy_tokens": "all", "log_ratio_penalty": 0,
                    "likelihood_coefficient": 0, "likelihood_gate": "turn",
                    "cross_entropy_coefficient": 0, "average": "trajectory", "mini_batch": 1,
                    "epochs": 1},
    "correction": {"weights": "none", "level": "token", "low": 0, "high": 2, "trust_region": "none",
                   "divergence": "k3", "bound": 0.1}
  })");
  return values;
}

}  // namespace

RequestError invalid(const std::string& path, const std::string& problem) {
  return {"request_invalid", path + ": " + problem};
}

nlohmann::json complete_section(const Json& request, const std::string& name) {
  auto values = defaults().at(name);
  if (const auto given = request.find(name); given != request.end()) {
    if (!given->is_object()) throw invalid(name, "must be an object with keys of run.json");
    values.update(nlohmann::json(*given), true);
  }
  return values;
}

const Json& list_in(const Json& object, const std::string& key, const std::string& path) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array() || found->empty())
    throw invalid(path.empty() ? key : path + "." + key, "must be a non-empty list");
  return *found;
}

double number_of(const Json& value, const std::string& path) {
  if (!value.is_number()) throw invalid(path, "must be a number");
  const double number = value.get<double>();
  // Their squares and sums stay finite.
  if (!(std::abs(number) <= 1e100)) throw invalid(path, "must be a number of at most 1e100 in size");
  return number;
}

int integer_of(const Json& value, const std::string& path, int minimum, int maximum) {
  if (!value.is_number_integer() || value < minimum || value > maximum)
    throw invalid(path, "must be an integer from " + std::to_string(minimum) + " to " + std::to_string(maximum));
  return value.get<int>();
}

std::vector<double> numbers_of(const Json& list, const std::string& path) {
  if (!list.is_array()) throw invalid(path, "must be a list of numbers");
  std::vector<double> numbers;
  for (const Json& value : list) numbers.push_back(number_of(value, path + "[" + std::to_string(numbers.size()) + "]"));
  return numbers;
}

std::vector<double> per_token(const Json& object, const std::string& key, const std::string& path, std::size_t tokens) {
  if (!object.contains(key)) throw invalid(path + "." + key, "is missing");
  auto numbers = numbers_of(object[key], path + "." + key);
  if (numbers.size() != tokens)
    throw invalid(path + "." + key, "must have one number for each of " + std::to_string(tokens) + " tokens");
  return numbers;
}

}  // namespace starpo
