#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "env/demonstration.h"
#include "env/noise.h"

namespace starpo {

// A named part of a reward, such as "step" or "goal".
struct RewardTerm {
  std::string name;
  double value;
};

// Something that an environment has to say of an action, such as "slipped" or "dead_end".
struct Fact {
  std::string name;
  bool holds;
};

// What one action did.
struct StepResult {
  double reward = 0;
  bool reward_is_integer = false;  // Python would print the reward without a fraction; see format_python_number
  bool done = false;
  bool effective = false;  // the action changed the state
  bool valid = false;      // the action has a name that the environment knows
  bool success = false;
  std::vector<RewardTerm> terms = {};  // add up to the reward, in their order
  std::vector<Fact> facts = {};        // the environment's own

  void add_reward(std::string name, double value) {
    reward = terms.empty() ? value : reward + value;
    terms.push_back({std::move(name), value});
  }

  // False for what the environment doesn't speak of.
  bool fact(std::string_view name) const {
    for (const Fact& each : facts)
      if (each.name == name) return each.holds;
    return false;
  }
};

// A small pure state machine: what happens is a function of reset's arguments and the actions since.
class Environment {
 public:
  virtual ~Environment() = default;
  virtual std::unique_ptr<Environment> clone() const = 0;

  // The level is a function of seed. noise: where slips and payouts come from (not the level, not the arm order); null:
  // from the level's own random numbers, as in the reference. Errors: level_not_found (Sokoban).
  virtual void reset(std::uint64_t seed, const NoiseStream* noise) = 0;

  // Action names are compared without case; an unknown one changes nothing. Errors: no_episode (before reset or after
  // the end).
  virtual StepResult step(std::string_view action) = 0;

  virtual std::string observation() const = 0;  // what the model reads
  virtual std::vector<std::string> actions()
      const = 0;  // names a reply may use; none: an answer is free text, and as a whole one action
  virtual bool success() const = 0;

  // What not every environment has.
  virtual std::optional<std::string> board() const { return std::nullopt; }  // text grid for replay
  virtual std::vector<std::pair<std::string, std::string>> placeholders() const {
    return {};
  }  // further prompt placeholders: Bandit's arm_1, arm_2
  virtual std::vector<std::string> arms() const { return {}; }  // names of a choice between arms, in the order shown
  virtual bool leaves_to_chance() const { return true; }        // whether what an action does can depend on noise
  virtual std::vector<std::pair<std::string, std::string>> idle_keys() const {
    return {};
  }  // of its configuration, those that can't act as the others are, and why

  // What a teacher would reply now; nothing where there are no demonstrations.
  virtual std::optional<Demonstration> demonstrate(const DemonstrationRequest&) const { return std::nullopt; }
};

// `type` is a registered name (frozen-lake, bandit, sokoban), `config_json` its configuration keys, all of them.
// Errors: config_invalid.
std::unique_ptr<Environment> make_environment(const std::string& type, const std::string& config_json);

}  // namespace starpo
