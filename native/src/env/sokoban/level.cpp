#include "env/sokoban/level.h"

namespace starpo {

int SokobanLevel::neighbor(int cell, SokobanDirection direction) const {
  switch (direction) {
    case SokobanDirection::up: return cell - columns;
    case SokobanDirection::down: return cell + columns;
    case SokobanDirection::left: return cell - 1;
    case SokobanDirection::right: return cell + 1;
  }
  return cell;
}

bool SokobanLevel::is_free(int cell) const {
  return cells[cell] == SokobanCell::floor || cells[cell] == SokobanCell::target;
}

bool SokobanLevel::has_box(int cell) const {
  return cells[cell] == SokobanCell::box || cells[cell] == SokobanCell::box_on_target;
}

SokobanMove move_player(SokobanLevel& level, SokobanDirection direction) {
  const int next = level.neighbor(level.player, direction);
  if (!level.is_free(next)) return {};
  level.cells[level.player] = level.fixed[level.player];
  level.cells[next] = SokobanCell::player;
  level.player = next;
  return {.player = true, .box = false};
}

SokobanMove push(SokobanLevel& level, SokobanDirection direction) {
  const int next = level.neighbor(level.player, direction);
  if (!level.has_box(next)) return move_player(level, direction);
  const int behind = level.neighbor(next, direction);
  if (!level.is_free(behind)) return {};
  level.cells[behind] = level.fixed[behind] == SokobanCell::target ? SokobanCell::box_on_target : SokobanCell::box;
  level.cells[next] = level.fixed[next];
  move_player(level, direction);
  return {.player = true, .box = true};
}

int targets_without_box(const SokobanLevel& level) {
  int count = 0;
  for (std::size_t cell = 0; cell < level.cells.size(); ++cell)
    count += level.fixed[cell] == SokobanCell::target && !level.has_box(static_cast<int>(cell));
  return count;
}

std::string sokoban_text(const SokobanLevel& level, const SokobanSymbols& symbols) {
  constexpr std::size_t player_on_target = 6;
  std::string text;
  for (int cell = 0; cell < static_cast<int>(level.cells.size()); ++cell) {
    if (cell > 0 && cell % level.columns == 0) text += '\n';
    const bool hides_target = cell == level.player && level.fixed[cell] == SokobanCell::target;
    text += symbols[hides_target ? player_on_target : static_cast<std::size_t>(level.cells[cell])];
  }
  return text;
}

std::vector<bool> live_cells(const SokobanLevel& level) {
  const auto is_wall = [&](int cell) { return level.fixed[cell] == SokobanCell::wall; };
  std::vector<bool> live(level.fixed.size(), false);
  std::vector<int> open;
  for (int cell = 0; cell < static_cast<int>(level.fixed.size()); ++cell)
    if (level.fixed[cell] == SokobanCell::target) {
      live[cell] = true;
      open.push_back(cell);
    }
  // Search backwards: the player pulls a box away from a target.
  while (!open.empty()) {
    const int cell = open.back();
    open.pop_back();
    for (int i = 0; i < kSokobanDirections; ++i) {
      const auto direction = static_cast<SokobanDirection>(i);
      const int before = level.neighbor(cell, direction);
      if (is_wall(before) || live[before] || is_wall(level.neighbor(before, direction))) continue;
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
