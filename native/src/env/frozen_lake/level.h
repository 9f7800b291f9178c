#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "env/reference/numpy_random.h"

namespace starpo {

// A lake of size * size cells, numbered row by row.
struct FrozenLakeLevel {
  int size = 0;
  std::vector<std::uint8_t> holes;  // [size * size], 1 for a hole
  int start = 0;
  int goal = 0;
};

// In Gymnasium's order.
enum class Direction { left, down, right, up };

struct Outcome {
  double probability;
  int cell;
};

// Possible outcomes of a move: one, or on slippery ice the directions before, at and after the intended one.
struct Outcomes {
  std::array<Outcome, 3> items;
  int count;
  int intended;  // index
};

// Draws holes with one uniform number per cell, row by row. A cell is a hole with probability 1 - p.
std::vector<std::uint8_t> draw_holes(int size, double p, NumpyRandom&);

// Returns whether a path without holes leads to the goal.
bool goal_is_reachable(const FrozenLakeLevel&);

// RAGEN's generator: redraws holes, start and goal until start and goal differ and the goal is reachable.
FrozenLakeLevel generate_frozen_lake(int size, double p, std::uint64_t seed);

// Returns the destination of a move. Moves off the grid stay in place.
int neighbor(const FrozenLakeLevel&, int cell, Direction);

bool ends_episode(const FrozenLakeLevel&, int cell);

// Gymnasium's transition table. Goal and holes are absorbing.
Outcomes frozen_lake_outcomes(const FrozenLakeLevel&, int cell, Direction, bool is_slippery, double success_rate);

// Returns the index that Gymnasium samples: the first whose cumulative probability exceeds the draw from [0, 1).
int sample_outcome(const Outcomes&, double draw);

}  // namespace starpo
