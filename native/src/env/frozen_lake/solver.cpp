#include "env/frozen_lake/solver.h"

#include <cstdlib>
#include <queue>

namespace starpo {
namespace {

// Moves to the goal from every cell, -1 where there is no way.
std::vector<int> distances_to_goal(const FrozenLakeLevel& level) {
  std::vector<int> distance(level.holes.size(), -1);
  std::queue<int> open({level.goal});
  distance[level.goal] = 0;
  while (!open.empty()) {
    const int cell = open.front();
    open.pop();
    // Moves between cells can be undone, so walking back from the goal finds the same cells as walking towards it.
    for (int direction = 0; direction < 4; ++direction) {
      const int next = neighbour(level, cell, static_cast<Direction>(direction));
      if (level.holes[next] || distance[next] >= 0) continue;
      distance[next] = distance[cell] + 1;
      open.push(next);
    }
  }
  return distance;
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
      const int next = neighbour(level, cell, static_cast<Direction>(direction));
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
  const int down = level.goal / level.size - lake.player() / level.size;
  const int right = level.goal % level.size - lake.player() % level.size;
  std::vector<std::string> path(std::abs(down), down > 0 ? "Down" : "Up");
  path.insert(path.end(), std::abs(right), right > 0 ? "Right" : "Left");
  return path;
}

}  // namespace starpo
