#pragma once

#include <string>

#include "env/environment.h"
#include "env/frozen_lake/level.h"

namespace starpo {

class FieldVisitor;

enum class LakeObservation { grid, coord, grid_coord };

// RAGEN's env_config keys.
struct FrozenLakeConfig {
  int size = 0;
  double p = 0;  // chance that a cell is frozen
  bool is_slippery = false;
  double success_rate = 0;  // of the intended move on slippery ice
  LakeObservation observation_format = LakeObservation::grid;
};

void describe(FieldVisitor&, FrozenLakeConfig&);

// Gymnasium's FrozenLake with RAGEN's levels and texts. Reward 1 on the goal, else 0, both Python ints; a hole ends the
// episode.
class FrozenLake final : public Environment {
 public:
  explicit FrozenLake(const FrozenLakeConfig&);

  std::unique_ptr<Environment> clone() const override;
  void reset(std::uint64_t seed, const NoiseStream* noise) override;
  StepResult step(std::string_view action) override;
  std::string observation() const override;
  std::optional<std::string> board() const override;  // P _ O G; X: player in a hole; √: player on the goal
  std::vector<std::string> actions() const override;
  bool success() const override;
  bool leaves_to_chance() const override { return config_.is_slippery; }
  std::vector<std::pair<std::string, std::string>> idle_keys() const override;
  std::optional<Demonstration> demonstrate(const DemonstrationRequest&) const override;

  const FrozenLakeLevel& level() const { return level_; }
  int player() const { return player_; }  // cell

 private:
  std::string coordinates() const;

  FrozenLakeConfig config_;
  FrozenLakeLevel level_;
  NumpyRandom random_;                // goes on where the reference's level left it: the slips where there is no noise
  std::optional<NoiseStream> noise_;  // the slips
  int player_ = 0;
  bool active_ = false;
};

// A shortest path from the player to the goal that avoids holes, as action names; empty where the player stands on the
// goal or has no path. Ties are broken in the order Left, Down, Right, Up, at the earliest action.
std::vector<std::string> shortest_safe_path(const FrozenLake&);

// The straight way, vertical moves first, holes ignored.
std::vector<std::string> greedy_path(const FrozenLake&);

}  // namespace starpo
