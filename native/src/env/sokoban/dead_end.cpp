#include "env/sokoban/dead_end.h"

namespace starpo {

std::vector<bool> live_cells(const SokobanLevel& level) {
  const auto is_wall = [&](int cell) { return level.fixed[cell] == SokobanCell::wall; };
  std::vector<bool> live(level.fixed.size(), false);
  std::vector<int> open;
  for (int cell = 0; cell < static_cast<int>(level.fixed.size()); ++cell)
    if (level.fixed[cell] == SokobanCell::target) {
      live[cell] = true;
      open.push_back(cell);
    }
  // Backwards: a box is pulled away from a target by a player who steps back.
  while (!open.empty()) {
    const int cell = open.back();
    open.pop_back();
    for (int i = 0; i < sokoban_directions; ++i) {
      const auto direction = static_cast<SokobanDirection>(i);
      const int before = level.neighbour(cell, direction);
      if (is_wall(before) || live[before] || is_wall(level.neighbour(before, direction))) continue;
      live[before] = true;
      open.push_back(before);
    }
  }
  return live;
}

bool has_lost_box(const SokobanLevel& level, const std::vector<bool>& live) {
  for (int cell = 0; cell < static_cast<int>(level.cells.size()); ++cell)
    if (level.has_box(cell) && !live[cell]) return true;
  return false;
}

}  // namespace starpo
