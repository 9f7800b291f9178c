#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace starpo {

// gym-sokoban's codes.
enum class SokobanCell : std::uint8_t { wall, floor, target, box_on_target, box, player };

enum class SokobanDirection { up, down, left, right };
constexpr int kSokobanDirections = 4;

// A room of rows * columns cells, numbered row by row and surrounded by walls.
struct SokobanLevel {
  int rows = 0;
  int columns = 0;
  std::vector<SokobanCell> fixed;  // [rows * columns]: wall, floor or target
  std::vector<SokobanCell> cells;  // [rows * columns]: current content; the player hides a target
  int player = 0;                  // cell

  int neighbor(int cell, SokobanDirection) const;
  bool is_free(int cell) const;  // unoccupied floor or target
  bool has_box(int cell) const;
};

// Symbols by code of SokobanCell; index 6 is the player on a target.
using SokobanSymbols = std::array<std::string, 7>;

struct SokobanMove {
  bool player = false;  // the player moved
  bool box = false;     // a box was pushed
};

// Moves the player to a free cell. Boxes block like walls.
SokobanMove move_player(SokobanLevel&, SokobanDirection);

// Moves the player and pushes a box if the cell behind it is free.
SokobanMove push(SokobanLevel&, SokobanDirection);

int targets_without_box(const SokobanLevel&);

// Renders the level as lines of symbols.
std::string sokoban_text(const SokobanLevel&, const SokobanSymbols&);

// Returns the cells from which a single box could be pushed to some target if the player could reach every cell: [rows
// * columns]. A box on any other cell makes the level unsolvable, but not every unsolvable level has such a box.
std::vector<bool> live_cells(const SokobanLevel&);

// Returns whether a box is on a cell that is not live.
bool has_lost_box(const SokobanLevel&, const std::vector<bool>& live);

}  // namespace starpo
