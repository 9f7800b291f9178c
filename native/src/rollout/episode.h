#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "env/environment.h"

namespace starpo {

// Where an episode comes from: its place in the batch, its level and its noise.
struct EpisodeSpec {
  int environment;  // index into the run's environments
  int group;
  int member;
  std::uint64_t seed;                // of the level
  std::optional<NoiseStream> noise;  // nothing: the reference's, which the level's own random numbers go on into
};

struct ExecutedAction {
  std::string action;
  double reward;
  std::string board;
  bool effective, valid, done, success;
  std::vector<Fact> facts = {};  // the environment's own
};

struct Turn {
  std::string state;     // what the environment showed
  std::string response;  // forced prefix and sampled text
  std::optional<std::string> think, answer;
  std::vector<std::string> actions;
  bool format_valid = false;
  bool action_valid = false;  // no action dropped or missing
  bool truncated = false;     // cut by the token limit
  double reward = 0;
  bool reward_is_integer = true;
  double penalty = 0;
  int think_tokens = 0;  // sampled before </think>

  std::vector<std::int32_t> context_ids;   // added to the context before the first sampled token; never trained
  std::vector<std::int32_t> ids;           // sampled, turn end included; all trained
  std::vector<float> logprobs, entropies;  // [ids], nats, from logits / temperature

  std::vector<ExecutedAction> executed;
};

enum class Ended { done, max_turns, max_actions, context };
const char* name_of(Ended);

struct Episode {
  EpisodeSpec spec;
  std::string initial;              // board, or the text shown
  std::optional<double> ease = {};  // of its level, where somebody has asked for it; see env/level_ease.h
  std::vector<std::string> arms;
  std::vector<std::string> action_names = {};  // that a reply could use when it began; none: free text
  std::vector<Turn> turns;
  double score = 0;  // rewards and penalties
  std::vector<RewardTerm> terms =
      {};  // what it is made of: each term's sum, in the order of their first appearance; penalties are "format"
  bool success = false;
  Ended ended = Ended::done;

  void add_term(const std::string& name, double value);

  int sampled_tokens() const;
  int executed_actions() const;
  int total_tokens() const;
};

// The groups of a rollout's episodes, which stand group by group.
std::vector<std::span<const Episode>> groups_of(std::span<const Episode>);

std::vector<double> scores_of(std::span<const Episode>);

}  // namespace starpo
