#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "env/claims/claim.h"

namespace starpo {

enum class GridDirection { up, down, left, right };

// A kind of thing on a grid, with the words that name it.
struct GridThing {
  std::string noun;
  std::vector<std::string_view> words;
  std::vector<int> cells;
  bool is_many = false;    // several may exist
  bool is_beside = false;  // matters beside the player only; its cells are not checked
};

// The cell beside the player.
struct GridSide {
  std::string_view content;  // edge, wall, hole, ice, floor, goal, box, target
  bool is_blocked = false;   // a move there has no effect
  bool is_deadly = false;
};

// The state that claims are checked against. Cells are numbered row by row.
struct GridWorld {
  int rows = 0, columns = 0;
  // The observation gives coordinates, so reasoning must count as it does: rows and columns from 0.
  bool gives_coordinates = false;
  std::vector<GridThing> things;  // first the player
  std::array<GridSide, 4> sides;  // by direction
  // Returns the player's cell after each move.
  std::function<std::vector<int>(std::span<const GridDirection>)> walk;
  std::function<bool(int cell)> is_deadly = {};                            // null: nothing is
  std::function<bool(int player, GridDirection direction)> can_push = {};  // null: nothing can be pushed

  int player() const { return things.front().cells.front(); }
  // Returns a cell as "row,column".
  std::string place_text(int cell) const;
  // Returns the index of the thing that a word names.
  std::optional<std::size_t> thing_named(std::string_view word) const;
};

// Checks claims about positions, paths, neighbors and directions against the world, and the moves that reasoning plans
// against the actions. Text that no rule understands is ignored, and a claim counts once. Rules: docs/algorithms.md.
std::vector<Claim> check_grid_claims(std::string_view reasoning, std::span<const std::string> actions,
                                     const GridWorld&);

}  // namespace starpo
