#pragma once

#include <string>

#include "env/environment.h"
#include "env/sokoban/level.h"

namespace starpo {

class FieldVisitor;

// RAGEN's env_config keys.
struct SokobanConfig {
  int dim_x = 0;  // rows, the ring of walls included
  int dim_y = 0;  // columns
  int num_boxes = 0;
  int max_steps = 0;     // actions after which an episode ends
  int search_depth = 0;  // of the level generator
  SokobanSymbols grid_lookup;
};

// Errors: config_invalid, beyond what the fields say: more boxes than the room can hold, a symbol used twice.
void describe(FieldVisitor&, SokobanConfig&);

// gym-sokoban's Sokoban with RAGEN's levels and texts: -0.1 an action, +1 and -1 for a box that comes upon or off a
// target, +10 for the last. Nothing in it is left to chance, so noise changes nothing.
class Sokoban final : public Environment {
 public:
  explicit Sokoban(const SokobanConfig&);

  std::unique_ptr<Environment> clone() const override;
  void reset(std::uint64_t seed, const NoiseStream* noise) override;  // errors: level_not_found
  StepResult step(std::string_view action) override;
  std::string observation() const override;  // in the symbols of grid_lookup
  std::optional<std::string> board()
      const override;  // # wall, _ floor, O target, √ box on target, X box, P player, S player on target
  std::vector<std::string> actions() const override;
  bool success() const override;
  bool leaves_to_chance() const override { return false; }
  std::optional<Demonstration> demonstrate(const DemonstrationRequest&) const override;

  const SokobanLevel& level() const { return level_; }

 private:
  SokobanConfig config_;
  SokobanLevel level_;
  std::vector<bool> live_cells_;
  int boxes_on_targets_ = 0;
  int steps_ = 0;
  bool active_ = false;
};

// A solution of as few moves as there can be, as action names; empty where the level is solved, can't be, or isn't
// within `most_states` states of player and boxes. Of several it is the one that Up, Down, Left, Right in this order
// find first.
std::vector<std::string> shortest_solution(const Sokoban&, int most_states = 1000000);

}  // namespace starpo
