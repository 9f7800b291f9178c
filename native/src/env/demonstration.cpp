#include "env/demonstration.h"

#include <cstdlib>

namespace starpo {

Plan random_plan(const std::vector<std::string>& names, DemonstrationDraws& draws) {
  Plan plan(2 + draws.below(3));
  for (auto& action : plan) action = names[draws.below(static_cast<int>(names.size()))];
  return plan;
}

Plan straight_plan(int down, int right) {
  Plan plan(std::abs(down), down > 0 ? "Down" : "Up");
  plan.insert(plan.end(), std::abs(right), right > 0 ? "Right" : "Left");
  return plan;
}

void horizontal_first(Plan& plan) {
  std::stable_partition(plan.begin(), plan.end(),
                        [](const std::string& action) { return action == "Left" || action == "Right"; });
}

void truncate(Plan& plan, int limit) {
  if (static_cast<int>(plan.size()) > limit) plan.resize(limit);
}

std::string cell_text(int cell, int columns) {
  return " " + std::to_string(cell / columns) + "," + std::to_string(cell % columns);
}

std::string run_length_text(const Plan& plan) {
  std::string text;
  for (std::size_t i = 0; i < plan.size();) {
    std::size_t end = i;
    while (end < plan.size() && plan[end] == plan[i]) ++end;
    text += " " + plan[i] + " " + std::to_string(end - i);
    i = end;
  }
  return text;
}

}  // namespace starpo
