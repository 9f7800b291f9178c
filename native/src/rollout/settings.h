#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "algorithm/reward_normalization.h"

// Settings of run.json for episodes: environments, levels, rollout and rewards.
namespace starpo {

class FieldVisitor;

inline constexpr std::int64_t kMaxSeed = 4294967295;

// Source of the random numbers for slips and payouts. shared: the same for all rollouts of a group. independent:
// separate for each rollout. reference: the level's own random numbers, as in RAGEN; they repeat in every iteration, so
// a policy can learn to predict them from the level.
enum class Noise { shared, independent, reference };

struct PromptConfig {
  std::string system, first, next;
};

struct EnvironmentConfig {
  std::string label;
  std::string type;
  std::string config;        // JSON text, for make_environment
  std::string files_sha256;  // Environment::files_digest when the run was created; empty: not checked
  double share = 0;
  bool validate = false;
  Noise noise = Noise::shared;
  int max_state_tokens = 0;  // per turn; 0: no limit
  int max_turns = 0;
  int max_actions_per_turn = 0;
  int max_actions = 0;
  PromptConfig prompt;
};

struct RolloutConfig {
  int groups = 0;
  int group_size = 0;
  int extra_rounds = 0;  // at most, for groups without reward std
  int slots = 0;
  double temperature = 0;
  double top_p = 0;
  int top_k = 0;
  double min_p = 0;
  int max_response_tokens = 0;
  int context = 0;
  int context_turns = 0;  // turns of a context, with the current one; 0: the whole episode
  bool think = false;
};

struct LevelsConfig {
  std::uint32_t train_seed = 0;
  std::uint32_t validation_seed = 0;
  int pool = 0;
};

// A program of the user that adds reward terms; see rollout/reward_program.h.
struct RewardProgramConfig {
  std::string command;    // for /bin/sh; empty: none
  std::string directory;  // absolute folder in which the command runs
  int processes = 1;
  double seconds = 60;  // time limit to start and per episode
  double weight = 1;    // 0: the program does not run

  bool runs() const { return !command.empty() && weight > 0; }
};

// Weights of the reward terms; see rollout/reward_terms.h.
struct RewardConfig {
  double environment_weight = 1;
  double format_penalty = 0;
  double step_cost = 0;
  double success_bonus = 0;
  double length_cost = 0;
  int length_buffer = 0;  // last tokens of rollout.max_response_tokens that cost; 0: all
  double grounding_weight = 0;
  double faithfulness_weight = 0;
  RewardNormalization normalization = RewardNormalization::none;
  NormalizationScope normalize_by = NormalizationScope::group;
  bool normalize_terms = false;
  RewardProgramConfig program = {};

  NormalizationConfig normalization_config() const { return {normalization, normalize_by, normalize_terms}; }
};

// Distributes `groups` training groups over environments by share, with the largest-remainder method. Ties go to
// earlier environments.
std::vector<int> groups_by_environment(std::span<const EnvironmentConfig>, int groups);

void describe(FieldVisitor&, PromptConfig&);
void describe(FieldVisitor&, EnvironmentConfig&);
void describe(FieldVisitor&, RolloutConfig&);
void describe(FieldVisitor&, LevelsConfig&);
void describe(FieldVisitor&, RewardProgramConfig&);
void describe(FieldVisitor&, RewardConfig&);

}  // namespace starpo
