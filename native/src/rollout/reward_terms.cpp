#include "rollout/reward_terms.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace starpo {
namespace {

// Returns (true - false) / checked claims of a kind, 0 without claims.
double agreement(const Turn& turn, ClaimKind kind) {
  int sum = 0, checked = 0;
  if (turn.claims) {
    for (const Claim& claim : *turn.claims) {
      if (claim.kind != kind) continue;
      ++checked;
      sum += claim.holds ? 1 : -1;
    }
  }
  return checked == 0 ? 0 : static_cast<double>(sum) / checked;
}

}  // namespace

std::vector<RewardTerm> reward_terms(const Turn& turn, bool solves, const RewardConfig& config,
                                     int max_response_tokens) {
  std::vector<RewardTerm> terms{{std::string(kEnvironmentTerm), config.environment_weight * turn.reward},
                                {std::string(kFormatTerm), turn.penalty}};
  const auto add = [&](const char* name, double weight, double value) {
    if (weight != 0) terms.push_back({name, weight * value});
  };
  add("step_cost", config.step_cost, -static_cast<double>(turn.executed.size()));
  add("success", config.success_bonus, solves);
  const int buffer = config.length_buffer > 0 ? config.length_buffer : max_response_tokens;
  const int in_buffer = std::max(0, static_cast<int>(turn.ids.size()) - (max_response_tokens - buffer));
  add("length", config.length_cost, -static_cast<double>(in_buffer) / buffer);
  return terms;
}

std::vector<RewardTerm> claim_terms(const Turn& turn, std::size_t turns, const RewardConfig& config) {
  std::vector<RewardTerm> terms;
  const auto add = [&](const char* name, double weight, ClaimKind kind) {
    if (weight != 0) terms.push_back({name, weight * agreement(turn, kind) / static_cast<double>(turns)});
  };
  add("grounding", config.grounding_weight, ClaimKind::grounding);
  add("faithfulness", config.faithfulness_weight, ClaimKind::faithfulness);
  return terms;
}

double sum_of(std::span<const RewardTerm> terms) {
  double sum = 0;
  for (const RewardTerm& term : terms) sum += term.value;
  return sum;
}

bool is_built_in_term(std::string_view name) {
  static constexpr std::array names{kEnvironmentTerm,
                                    kFormatTerm,
                                    std::string_view("step_cost"),
                                    std::string_view("success"),
                                    std::string_view("length"),
                                    std::string_view("grounding"),
                                    std::string_view("faithfulness")};
  return std::ranges::find(names, name) != names.end();
}

double weight_of_term(std::string_view name, const RewardConfig& config) {
  if (name == kEnvironmentTerm) return config.environment_weight;
  if (name == kFormatTerm) return std::abs(config.format_penalty);
  if (name == "step_cost") return config.step_cost;
  if (name == "success") return config.success_bonus;
  if (name == "length") return config.length_cost;
  if (name == "grounding") return config.grounding_weight;
  if (name == "faithfulness") return config.faithfulness_weight;
  return config.program.weight;
}

}  // namespace starpo
