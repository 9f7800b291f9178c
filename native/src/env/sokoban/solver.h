#pragma once

#include <string>
#include <vector>

#include "env/sokoban/sokoban.h"

namespace starpo {

// A solution of as few moves as there can be, as action names; empty where the level is solved, can't be, or isn't within `most_states` states of
// player and boxes. Of several it is the one that Up, Down, Left, Right in this order find first.
std::vector<std::string> shortest_solution(const Sokoban&, int most_states = 1000000);

}  // namespace starpo
