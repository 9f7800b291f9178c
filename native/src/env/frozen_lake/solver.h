#pragma once

#include <string>
#include <vector>

#include "env/frozen_lake/frozen_lake.h"

namespace starpo {

// A shortest path from the player to the goal that avoids holes, as action names; empty where the player stands on the goal or has no path.
// Ties are broken in the order Left, Down, Right, Up, at the earliest action.
std::vector<std::string> shortest_safe_path(const FrozenLake&);

// The straight way, vertical moves first, holes ignored.
std::vector<std::string> greedy_path(const FrozenLake&);

}  // namespace starpo
