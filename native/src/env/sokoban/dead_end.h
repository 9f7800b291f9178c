#pragma once

#include <vector>

#include "env/sokoban/level.h"

namespace starpo {

// Cells from which a box could be pushed onto some target if it were the only one and the player could stand anywhere: [rows * columns].
// A box elsewhere is lost for good; that a box stands on such a cell promises nothing.
std::vector<bool> live_cells(const SokobanLevel&);

// Whether a box stands on a cell that isn't live.
bool has_lost_box(const SokobanLevel&, const std::vector<bool>& live);

}  // namespace starpo
