#include "env/frozen_lake/frozen_lake.h"
#include "env/frozen_lake/solver.h"

namespace starpo {
namespace {

// "Down 1,3 Left 1,2": each of the plan's moves and where it leads, so that every step can be held against the holes.
std::string stepwise(const FrozenLake& lake, const Plan& plan) {
  std::string text;
  int cell = lake.player();
  for (const auto& action : plan) {
    cell = neighbour(lake.level(), cell, direction_of<Direction>(action, lake.actions()));
    text += " " + action + place(cell, lake.level().size);
  }
  return text;
}

}  // namespace

std::optional<Demonstration> FrozenLake::demonstrate(const DemonstrationRequest& request) const {
  using enum DemonstrationStyle;
  auto& draws = request.draws;
  Plan plan = request.mistake ? random_plan(actions(), draws) : request.style == careful ? shortest_safe_path(*this) : greedy_path(*this);
  if (!request.mistake && request.style != careful && draws.uniform() < 0.5f) horizontal_first(plan);
  cut(plan, request.limit);

  const std::string ends = "player" + place(player_, level_.size) + " goal" + place(level_.goal, level_.size);
  if (request.style == plain) return Demonstration{draws.uniform() < 0.5f ? "I go to the goal." : "try the way to the goal.", plan};
  if (request.style == positions) return Demonstration{ends + ". go" + counted(plan), plan};
  std::string holes;
  for (int cell = 0; cell < level_.size * level_.size; ++cell)
    if (level_.holes[cell]) holes += " hole" + place(cell, level_.size);
  return Demonstration{ends + holes + ". safe path" + stepwise(*this, plan), plan};
}

}  // namespace starpo
