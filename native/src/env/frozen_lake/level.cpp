#include "env/frozen_lake/level.h"

namespace starpo {

std::vector<std::uint8_t> draw_holes(int size, double p, NumpyRandom& random) {
  // numpy's choice divides cumulative probabilities by the last, and p + (1 - p) might not round to 1.
  const double frozen = p / (p + (1 - p));
  std::vector<std::uint8_t> holes(static_cast<std::size_t>(size) * size);
  for (auto& hole : holes) hole = random.random() >= frozen;
  return holes;
}

bool goal_is_reachable(const FrozenLakeLevel& level) {
  std::vector<std::uint8_t> seen(level.holes.size());
  std::vector<int> open{level.start};
  while (!open.empty()) {
    const int cell = open.back();
    open.pop_back();
    if (cell == level.goal) return true;
    if (seen[cell]++) continue;
    for (int direction = 0; direction < 4; ++direction) {
      const int next = neighbor(level, cell, static_cast<Direction>(direction));
      if (!level.holes[next] && !seen[next]) open.push_back(next);
    }
  }
  return false;
}

FrozenLakeLevel generate_frozen_lake(int size, double p, std::uint64_t seed) {
  NumpyRandom random(seed);
  const auto draw_cell = [&] {
    const auto row = random.integers(size);
    return static_cast<int>(row * size + random.integers(size));
  };
  FrozenLakeLevel level{.size = size, .holes = {}, .start = 0, .goal = 0};
  do {
    level.holes = draw_holes(size, p, random);
    level.start = draw_cell();
    level.goal = draw_cell();
    level.holes[level.start] = level.holes[level.goal] = 0;
  } while (level.start == level.goal || !goal_is_reachable(level));
  return level;
}

int neighbor(const FrozenLakeLevel& level, int cell, Direction direction) {
  const int row = cell / level.size, column = cell % level.size, last = level.size - 1;
  switch (direction) {
    case Direction::left: return column > 0 ? cell - 1 : cell;
    case Direction::down: return row < last ? cell + level.size : cell;
    case Direction::right: return column < last ? cell + 1 : cell;
    case Direction::up: return row > 0 ? cell - level.size : cell;
  }
  return cell;
}

bool ends_episode(const FrozenLakeLevel& level, int cell) { return cell == level.goal || level.holes[cell]; }

Outcomes frozen_lake_outcomes(const FrozenLakeLevel& level, int cell, Direction direction, bool is_slippery,
                              double success_rate) {
  if (ends_episode(level, cell)) return {.items = {{{1.0, cell}}}, .count = 1, .intended = 0};
  if (!is_slippery) return {.items = {{{1.0, neighbor(level, cell, direction)}}}, .count = 1, .intended = 0};
  const double slip = (1.0 - success_rate) / 2.0;
  const auto turned = [&](int quarter) {
    return neighbor(level, cell, static_cast<Direction>((static_cast<int>(direction) + quarter) % 4));
  };
  return {.items = {{{slip, turned(3)}, {success_rate, turned(0)}, {slip, turned(1)}}}, .count = 3, .intended = 1};
}

int sample_outcome(const Outcomes& outcomes, double draw) {
  double sum = 0;
  for (int i = 0; i < outcomes.count; ++i) {
    sum += outcomes.items[i].probability;
    if (sum > draw) return i;
  }
  return 0;  // the sum may round to just below 1; Gymnasium's argmax then returns the first index
}

}  // namespace starpo
