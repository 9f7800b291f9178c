#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "env/environment.h"

namespace starpo {

// Identifies an episode: its position in the batch, its level and its noise.
struct EpisodeSpec {
  int environment;  // index into the environments of the run
  int group;
  int index_in_group;
  std::uint64_t seed;                // seed of the level
  std::optional<NoiseStream> noise;  // nullopt: the level's own random numbers, as in RAGEN
  Split split = Split::train;
};

struct ExecutedAction {
  std::string action;
  double reward;
  std::string board;
  bool effective, valid, done, success;
  std::vector<StepFlag> flags = {};
};

struct Turn {
  std::string state;                  // observation
  std::optional<std::string> anchor;  // see Environment::anchor
  std::string response;               // forced prefix and sampled text
  std::optional<std::string> think, answer;
  std::vector<std::string> actions;
  bool format_valid = false;
  bool action_valid = false;   // no action dropped or missing
  bool truncated = false;      // truncated by the token limit
  bool state_limited = false;  // max_state_tokens is set
  int omitted_tokens = 0;      // of the state, which exceeded it
  double reward = 0;           // of the environment
  bool reward_is_integer = true;
  double penalty = 0;
  std::vector<RewardTerm> terms = {};  // weighted; see rollout/reward_terms.h
  double score = 0;                    // their sum
  int think_tokens = 0;                // tokens sampled before </think>

  // Read before the first sampled token; not trained. If begins_context, they replace all earlier tokens.
  std::vector<std::int32_t> context_ids;
  bool begins_context = false;             // always in the first turn; see RolloutConfig::context_turns
  std::vector<std::int32_t> ids;           // sampled tokens, including the turn end; all trained
  std::vector<float> logprobs, entropies;  // [ids], nats, from logits / temperature

  // Checked claims of the reasoning; absent without reasoning or rules. See Environment::check_claims.
  std::optional<std::vector<Claim>> claims = {};

  std::vector<ExecutedAction> executed;
};

// environment_failed: the episode is void, neither trained on nor scored.
enum class EndReason { done, max_turns, max_actions, context, environment_failed };
const char* name_of(EndReason);

struct Episode {
  EpisodeSpec spec;
  int number = 0;                                 // position in the rollout, for its id
  std::vector<std::string> failures;              // why the environment or the reward program failed, per attempt
  std::string initial;                            // board, or the observation of an environment without one
  std::optional<double> log_random_success = {};  // level difficulty, if computed; see env/level_difficulty.h
  ResetInfo reset_info = {};
  bool single_step = false;                    // see Environment::is_single_step
  std::vector<std::string> action_names = {};  // valid names at the start; empty: free text
  std::vector<Turn> turns;
  double score = 0;  // sum over turns
  // Sum per reward term, in order of first appearance. The environment's own terms replace the term "environment".
  std::vector<RewardTerm> terms = {};
  bool success = false;
  EndReason ended = EndReason::done;

  bool is_void() const { return ended == EndReason::environment_failed; }
  // Removes the score. The turns stay, because they show where the environment failed.
  void make_void();

  void add_term(const std::string& name, double value);
  // Adds a weighted term to the score of a turn.
  void add_turn_term(std::size_t turn, const std::string& name, double value);

  int sampled_tokens() const;
  int executed_actions() const;
};

// Splits episodes, ordered by group, into groups.
std::vector<std::span<const Episode>> groups_of(std::span<const Episode>);

std::vector<double> scores_of(std::span<const Episode>);

}  // namespace starpo
