#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace starpo {

// gym-sokoban's codes.
enum class SokobanCell : std::uint8_t { wall, floor, target, box_on_target, box, player };

enum class SokobanDirection { up, down, left, right };
constexpr int sokoban_directions = 4;

// A room of rows * columns cells, numbered row by row, within a ring of walls.
struct SokobanLevel {
  int rows = 0;
  int columns = 0;
  std::vector<SokobanCell> fixed;  // [rows * columns]: wall, floor or target
  std::vector<SokobanCell> cells;  // [rows * columns]: what stands there now; the player hides a target
  int player = 0;                  // cell

  int neighbour(int cell, SokobanDirection) const;
  bool is_free(int cell) const;  // floor or target with nobody on it
  bool has_box(int cell) const;
};

// Symbols by what is seen: the codes of SokobanCell, and 6 for the player on a target.
using SokobanSymbols = std::array<std::string, 7>;

struct SokobanMove {
  bool player = false;  // moved
  bool box = false;     // was pushed
};

// The player steps on a free cell; a box is in the way like a wall.
SokobanMove walk(SokobanLevel&, SokobanDirection);

// As walk, but a box with a free cell behind it is pushed there.
SokobanMove push(SokobanLevel&, SokobanDirection);

int targets_without_box(const SokobanLevel&);

// Rows of symbols, joined by newlines.
std::string sokoban_text(const SokobanLevel&, const SokobanSymbols&);

// Cells from which a box could be pushed onto some target if it were the only one and the player could stand anywhere:
// [rows * columns]. A box elsewhere is lost for good; that a box stands on such a cell promises nothing.
std::vector<bool> live_cells(const SokobanLevel&);

// Whether a box stands on a cell that isn't live.
bool has_lost_box(const SokobanLevel&, const std::vector<bool>& live);

}  // namespace starpo
