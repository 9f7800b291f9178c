#include <queue>

#include "env/frozen_lake/frozen_lake.h"

namespace starpo {
namespace {

// Returns the number of moves to the goal from every cell, or -1 if the goal is unreachable.
std::vector<int> distances_to_goal(const FrozenLakeLevel& level) {
  std::vector<int> distance(level.holes.size(), -1);
  std::queue<int> open({level.goal});
  distance[level.goal] = 0;
  while (!open.empty()) {
    const int cell = open.front();
    open.pop();
    // Moves are reversible, so a search from the goal visits the same cells as a search toward it.
    for (int direction = 0; direction < 4; ++direction) {
      const int next = neighbor(level, cell, static_cast<Direction>(direction));
      if (level.holes[next] || distance[next] >= 0) continue;
      distance[next] = distance[cell] + 1;
      open.push(next);
    }
  }
  return distance;
}

// Returns each move of a plan with its destination, to be compared with the holes: " Down 1,3 Left 1,2".
std::string stepwise(const FrozenLake& lake, const Plan& plan) {
  std::string text;
  int cell = lake.player();
  for (const auto& action : plan) {
    cell = neighbor(lake.level(), cell, direction_of<Direction>(action, lake.actions()));
    text += " " + action + cell_text(cell, lake.level().size);
  }
  return text;
}

}  // namespace

std::vector<std::string> shortest_safe_path(const FrozenLake& lake) {
  const auto& level = lake.level();
  const auto names = lake.actions();
  const auto distance = distances_to_goal(level);
  std::vector<std::string> path;
  int cell = lake.player();
  if (distance[cell] < 0) return path;
  while (cell != level.goal) {
    for (int direction = 0; direction < 4; ++direction) {
      const int next = neighbor(level, cell, static_cast<Direction>(direction));
      if (distance[next] != distance[cell] - 1) continue;
      path.push_back(names[direction]);
      cell = next;
      break;
    }
  }
  return path;
}

std::vector<std::string> greedy_path(const FrozenLake& lake) {
  const auto& level = lake.level();
  return straight_plan(level.goal / level.size - lake.player() / level.size,
                       level.goal % level.size - lake.player() % level.size);
}

std::optional<Demonstration> FrozenLake::demonstrate(const DemonstrationRequest& request) const {
  using enum DemonstrationStyle;
  auto& draws = request.draws;
  Plan plan = request.mistake            ? random_plan(actions(), draws)
              : request.style == careful ? shortest_safe_path(*this)
                                         : greedy_path(*this);
  if (!request.mistake && request.style != careful && draws.uniform() < 0.5f) horizontal_first(plan);
  truncate(plan, request.limit);

  const std::string ends = "player" + cell_text(player_, level_.size) + " goal" + cell_text(level_.goal, level_.size);
  if (request.style == plain)
    return Demonstration{draws.uniform() < 0.5f ? "I go to the goal." : "try the way to the goal.", plan};
  if (request.style == positions) return Demonstration{ends + ". go" + run_length_text(plan), plan};
  std::string holes;
  for (int cell = 0; cell < level_.size * level_.size; ++cell)
    if (level_.holes[cell]) holes += " hole" + cell_text(cell, level_.size);
  return Demonstration{ends + holes + ". safe path" + stepwise(*this, plan), plan};
}

}  // namespace starpo
