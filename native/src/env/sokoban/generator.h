#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "env/reference/python_random.h"
#include "env/sokoban/level.h"

namespace starpo {

// Variant of the generator: RAGEN's, or the original of gym-sokoban.
enum class SokobanGenerator { ragen, gym };

constexpr int kMaxSokobanBoxes = 16;

struct SokobanSize {
  int rows = 0;
  int columns = 0;
  int boxes = 0;
  int search_depth = 0;  // gym-sokoban: 300
};

struct SokobanRoom {
  SokobanLevel level;
  std::vector<int> targets;  // sorted cells
  std::vector<int> boxes;    // the box pulled from each target
};

// The two global random generators of RAGEN. Python's draws the walls and the player's final moves; numpy's draws the
// positions of player and targets.
struct SokobanRandom {
  // numpy accepts only 32-bit seeds, so it gets the low bits.
  explicit SokobanRandom(std::uint64_t seed) : topology(seed), placement(static_cast<std::uint32_t>(seed)) {}

  PythonRandom topology;
  NumpyLegacyRandom placement;
};

// Generates a room in up to four attempts. Returns nothing if all fail.
std::optional<SokobanRoom> try_sokoban_room(const SokobanSize&, SokobanGenerator, SokobanRandom&);

// Returns the seed that RAGEN tries after one that yields no room: Python's hash of the seed's text with
// PYTHONHASHSEED=0.
std::uint64_t next_sokoban_seed(std::uint64_t seed);

// Returns RAGEN's level for a seed. Errors: level_not_found if a hundred seeds in a row yield no level.
SokobanRoom generate_sokoban(const SokobanSize&, std::uint64_t seed);

}  // namespace starpo
