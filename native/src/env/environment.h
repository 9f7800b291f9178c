#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "env/noise.h"

namespace starpo {

// What one action did.
struct StepResult {
  double reward = 0;
  bool reward_is_integer = false;  // Python would print the reward without a fraction; see format_python_number
  bool done = false;
  bool effective = false;  // the action changed the state
  bool valid = false;      // the action has a name that the environment knows
  bool slipped = false;    // another move than the intended one was executed
  bool success = false;
  bool dead_end = false;   // success can't be had any more, as far as the environment sees
};

// A small pure state machine: what happens is a function of reset's arguments and the actions since.
class Environment {
 public:
  virtual ~Environment() = default;
  virtual std::unique_ptr<Environment> clone() const = 0;

  // The level is a function of seed. noise: where slips and payouts come from (not the level, not the arm order); null: from the level's own random numbers,
  // as in the reference. Errors: level_not_found (Sokoban).
  virtual void reset(std::uint64_t seed, const NoiseStream* noise) = 0;

  // Action names are compared without case; an unknown one changes nothing. Errors: no_episode (before reset or after the end).
  virtual StepResult step(std::string_view action) = 0;

  virtual std::string observation() const = 0;            // what the model reads
  virtual std::optional<std::string> board() const = 0;   // text grid for replay; none for Bandit
  virtual std::vector<std::string> actions() const = 0;   // names a reply may use
  virtual std::vector<std::pair<std::string, std::string>> placeholders() const = 0;  // further prompt placeholders: Bandit's arm_1, arm_2
  virtual std::vector<std::string> arms() const = 0;      // Bandit: names in the order shown; else empty
  virtual bool success() const = 0;
};

// `type` is a registered name (frozen-lake, bandit, sokoban), `config_json` its configuration keys, all of them. Errors: config_invalid.
std::unique_ptr<Environment> make_environment(const std::string& type, const std::string& config_json);

}  // namespace starpo
