#pragma once

#include <vector>

#include "env/sokoban/level.h"

namespace starpo {

// Whose generator: RAGEN's, or gym-sokoban's that it comes from.
enum class SokobanGenerator { ragen, gym };

constexpr int largest_sokoban_boxes = 16;

// Where a solved room's boxes were pulled.
struct ReversePlay {
  int player = 0;
  std::vector<int> targets;  // in the order of cells
  std::vector<int> boxes;    // the box of each target
  int displacement = 0;      // summed Manhattan distances between the two; 0: nothing was found
};

// Searches depth first for a state whose boxes were pulled far and by turns, from a room whose boxes all stand on their targets. `room` has
// its targets in `fixed` and its player; `cells` is not read. Of the room's states those `search_depth` - 2 moves away are the last.
ReversePlay play_in_reverse(const SokobanLevel& room, int search_depth, SokobanGenerator);

}  // namespace starpo
