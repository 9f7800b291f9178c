#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "env/reference/python_random.h"
#include "env/sokoban/level.h"

namespace starpo {

// Whose generator: RAGEN's, or gym-sokoban's that it comes from.
enum class SokobanGenerator { ragen, gym };

constexpr int largest_sokoban_boxes = 16;

struct SokobanSize {
  int rows = 0;
  int columns = 0;
  int boxes = 0;
  int search_depth = 0;  // gym-sokoban: 300
};

struct SokobanRoom {
  SokobanLevel level;
  std::vector<int> targets;  // cells, in their order
  std::vector<int> boxes;    // the box that was pulled from each target
};

// The two global generators of the reference: Python's draws the walls and the player's walk, numpy's the places of
// player and targets.
struct SokobanRandom {
  // numpy takes no seed beyond 32 bits: its generator gets the low ones.
  explicit SokobanRandom(std::uint64_t seed) : topology(seed), placement(static_cast<std::uint32_t>(seed)) {}

  PythonRandom topology;
  NumpyLegacyRandom placement;
};

// A room after up to four tries; nothing where they failed.
std::optional<SokobanRoom> try_sokoban_room(const SokobanSize&, SokobanGenerator, SokobanRandom&);

// The seed that RAGEN goes on with where there is no room for one: its text's hash, which Python's hash seed 0 makes
// the same everywhere.
std::uint64_t next_sokoban_seed(std::uint64_t seed);

// RAGEN's level of a seed. Errors: level_not_found where a hundred seeds in a row have none.
SokobanRoom generate_sokoban(const SokobanSize&, std::uint64_t seed);

}  // namespace starpo
