#pragma once

#include <nlohmann/json.hpp>

#include "env/sokoban/sokoban.h"

// Symbols as in RAGEN.
inline const starpo::SokobanSymbols plain_symbols{"#", "_", "O", "√", "X", "P", "S"};

// RAGEN's preset: 6 x 6 with one box.
inline starpo::SokobanConfig simple_sokoban() {
  return {.dim_x = 6, .dim_y = 6, .num_boxes = 1, .max_steps = 100, .search_depth = 300, .grid_lookup = plain_symbols};
}

// Builds a level from grids of gym-sokoban's codes.
inline starpo::SokobanLevel level_of(const nlohmann::json& fixed, const nlohmann::json& state) {
  using namespace starpo;
  SokobanLevel level{.rows = static_cast<int>(fixed.size()),
                     .columns = static_cast<int>(fixed[0].get<std::string>().size()),
                     .fixed = {},
                     .cells = {},
                     .player = 0};
  for (const std::string row : fixed)
    for (const char c : row) level.fixed.push_back(static_cast<SokobanCell>(c - '0'));
  for (const std::string row : state)
    for (const char c : row) {
      if (c == '5') level.player = static_cast<int>(level.cells.size());
      level.cells.push_back(static_cast<SokobanCell>(c - '0'));
    }
  return level;
}
