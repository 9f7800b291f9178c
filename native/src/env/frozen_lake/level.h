#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "env/reference/numpy_random.h"

namespace starpo {

// A lake of size * size cells, numbered row by row.
struct FrozenLakeLevel {
  int size = 0;
  std::vector<std::uint8_t> holes;  // [size * size], 1 where the ice has a hole
  int start = 0;
  int goal = 0;
};

// Gymnasium's order.
enum class Direction { left, down, right, up };

struct Outcome {
  double probability;
  int cell;
};

// What may come of a move: one outcome, or with slippery ice the three directions before, at and after the intended
// one.
struct Outcomes {
  std::array<Outcome, 3> items;
  int count;
  int intended;  // index
};

// One uniform draw a cell, row by row: a hole where it falls into the 1 - p.
std::vector<std::uint8_t> draw_holes(int size, double p, NumpyRandom&);

// Whether the goal can be reached without stepping into a hole.
bool goal_is_reachable(const FrozenLakeLevel&);

// RAGEN's generator: holes, start and goal are drawn anew until they differ and the goal can be reached.
FrozenLakeLevel generate_frozen_lake(int size, double p, std::uint64_t seed);

// The cell that a move leads to; the border stops it.
int neighbour(const FrozenLakeLevel&, int cell, Direction);

bool ends_episode(const FrozenLakeLevel&, int cell);

// Gymnasium's transition table. Goal and holes are absorbing.
Outcomes frozen_lake_outcomes(const FrozenLakeLevel&, int cell, Direction, bool is_slippery, double success_rate);

// The index that Gymnasium's sampling picks: the first whose running sum exceeds the draw, one of [0, 1) that is spent
// even on a certain outcome.
int sample_outcome(const Outcomes&, double draw);

}  // namespace starpo
