#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "env/claims/claim.h"
#include "env/demonstration.h"
#include "env/noise.h"

namespace starpo {

// A named part of a reward, such as "step" or "goal".
struct RewardTerm {
  std::string name;
  double value;
};

// A property of a step that is specific to an environment, such as "slipped".
struct StepFlag {
  std::string name;
  bool value;
};

// Named lists of text about a level, for episode files.
using ResetInfo = std::vector<std::pair<std::string, std::vector<std::string>>>;

// The result of one action.
struct StepResult {
  double reward = 0;
  bool reward_is_integer = false;  // the reward is a Python int; see format_python_number
  bool done = false;
  bool effective = false;  // the action changed the state
  bool valid = false;      // the environment knows the action's name
  bool success = false;
  std::vector<RewardTerm> terms = {};  // their sum, in this order, is the reward
  std::vector<StepFlag> flags = {};

  void add_reward(std::string name, double value) {
    reward = terms.empty() ? value : reward + value;
    terms.push_back({std::move(name), value});
  }

  // Returns false for a flag that the environment does not set.
  bool flag(std::string_view name) const {
    for (const StepFlag& each : flags)
      if (each.name == name) return each.value;
    return false;
  }
};

// The purpose of an episode. Programs of the user may choose their levels by it.
enum class Split { train, validation };

class LateEnvironment;

// A deterministic state machine: its state depends only on the arguments of reset and the actions since.
class Environment {
 public:
  virtual ~Environment() = default;
  virtual std::unique_ptr<Environment> clone() const = 0;

  // Selects the levels of the next resets, in environments that have other levels for validation.
  void set_split(Split split) { split_ = split; }

  // Starts an episode on the level of a seed. noise: random numbers for slips and payouts; null: the level's own random
  // numbers, as in RAGEN. Errors: level_not_found (Sokoban, WebShop), index_invalid (WebShop), command_not_confirmed
  // and environment_failed (own environments).
  virtual void reset(std::uint64_t seed, const NoiseStream* noise) = 0;

  // Executes an action. Names are compared without case; an unknown action has no effect. Errors: no_episode (before
  // reset or after the end), index_invalid (WebShop), environment_failed (own environments).
  virtual StepResult step(std::string_view action) = 0;

  virtual std::string observation() const = 0;  // text for the model
  // Valid action names. Empty: any text is an action, and an answer is one action.
  virtual std::vector<std::string> actions() const = 0;
  virtual bool success() const = 0;

  // The state for the replay, if the observation doesn't show it: a text grid, or what the environment's view reads.
  virtual std::optional<std::string> board() const { return std::nullopt; }
  // Identifies the current state for estimators that compare equal states. Default: the observation.
  virtual std::optional<std::string> anchor() const { return std::nullopt; }
  // Additional prompt placeholders and their values.
  virtual std::vector<std::pair<std::string, std::string>> placeholders() const { return {}; }
  // Whether only the first state of an episode describes the task.
  virtual bool shows_task_once() const { return false; }
  virtual ResetInfo reset_info() const { return {}; }
  // More facts about the current state, as a JSON object for answers of the protocol. at_start: right after reset.
  virtual std::string info_json([[maybe_unused]] bool at_start) const { return "{}"; }
  // Whether an episode is a single action, so that its score is the payout of that action.
  virtual bool is_single_step() const { return false; }
  // Whether the result of an action can depend on noise.
  virtual bool is_stochastic() const { return true; }
  // Digest of the files that levels depend on. Empty: levels depend on the configuration alone.
  virtual std::string files_digest() const { return ""; }
  // Configuration keys that have no effect given the other keys, with the reason.
  virtual std::vector<std::pair<std::string, std::string>> idle_keys() const { return {}; }

  // Checks what reasoning claims about the current state and about the actions that follow it. Returns nothing if the
  // environment has no rules for this.
  virtual std::optional<std::vector<Claim>> check_claims(std::string_view /*reasoning*/,
                                                         std::span<const std::string> /*actions*/) const {
    return std::nullopt;
  }
  // Whether check_claims has rules.
  virtual bool has_claim_rules() const { return false; }

  // Returns this object if it may answer late; see env/late_environment.h.
  virtual LateEnvironment* late() { return nullptr; }

  // Returns a demonstration for the current state, or nothing if the environment has none.
  virtual std::optional<Demonstration> demonstrate(const DemonstrationRequest&) const { return std::nullopt; }

 protected:
  Split split() const { return split_; }

 private:
  Split split_ = Split::train;
};

// Creates an environment. `type`: a registered name (frozen-lake, bandit, sokoban, webshop, process); `config_json`:
// all its configuration keys. Errors: config_invalid, and those of WebShop for its catalogue.
std::unique_ptr<Environment> make_environment(const std::string& type, const std::string& config_json);

}  // namespace starpo
