#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "env/environment.h"
#include "rollout/episode.h"
#include "rollout/prompt.h"
#include "rollout/settings.h"
#include "tokenizer/tokenizer.h"

namespace starpo {

// Maximum response tokens of a turn, for benchmarks. Clamped to rollout.max_response_tokens. Turns count from 0.
using ResponseLimit = std::function<int(const EpisodeSpec&, int turn)>;

// Shared by all episodes of an environment.
struct EpisodeRules {
  const EnvironmentConfig& environment;
  const RolloutConfig& rollout;
  const RewardConfig& reward;
  const Tokenizer& tokenizer;
  const ChatFormat& chat;
  ResponseLimit response_limit = {};  // null: rollout.max_response_tokens
};

// Plays one episode as a conversation of token ids (RAGEN, arXiv 2504.20073, section 3.1). The caller chooses the
// tokens, from the policy or a solver. With rollout.context_turns, a later turn begins a new conversation: the system
// message, the last turns, of which the first is introduced by prompt.first, and the current state.
class EpisodePlayer {
 public:
  // What to do while a late environment has not answered.
  enum class Waiting { blocks, returns };

  // Resets the environment to the spec's level. Errors: those of fill_template, Environment::reset and
  // Tokenizer::encode, context_too_small (prompt and one response do not fit).
  EpisodePlayer(const EpisodeRules&, std::unique_ptr<Environment>, const EpisodeSpec&, Waiting = Waiting::blocks);

  // Whether the environment hasn't answered yet (only with Waiting::returns). Until it does, no token can be chosen.
  bool waiting() const { return stage_ != Stage::responding; }
  // Continues if the environment has answered. Returns the ids to read before the next choice: the prompt after the
  // reset, and as accept() does later. Errors: as for the constructor.
  std::vector<std::int32_t> advance();
  // The environment, if it may answer late.
  LateEnvironment* late() { return late_; }

  // Returns the prompt ids.
  const std::vector<std::int32_t>& prompt() const { return episode_.turns.front().context_ids; }

  // Appends a chosen id with its log-probability and entropy. Returns the ids to read before the next choice: the
  // context of the next turn after the end of a turn; empty within a turn, at the end of the episode and while waiting.
  std::vector<std::int32_t> accept(std::int32_t id, float logprob, float entropy);

  // Whether the ids that were returned last replace all earlier tokens. Otherwise they are appended.
  bool begins_context() const { return episode_.turns.back().begins_context; }

  bool finished() const { return finished_; }
  int response_tokens_left() const { return response_limit_ - static_cast<int>(episode_.turns.back().ids.size()); }
  const Environment& environment() const { return *environment_; }
  const Episode& episode() const { return episode_; }  // so far
  Episode take() { return std::move(episode_); }

 private:
  void begin_turn(std::vector<std::int32_t> context_ids, bool begins_context);
  enum class Stage { starting, responding, acting };
  void open();
  void parse_turn();
  void choose_actions(Turn&);
  std::vector<std::int32_t> act();
  void record(const std::string& action, const StepResult&);
  void score_turn(bool solves);
  void score_claims();
  std::optional<EndReason> end_reason() const;
  bool next_begins_context() const;
  std::vector<std::int32_t> next_context(bool begins_context);
  // Fill the environment's prompt.first or prompt.next for the current state.
  std::string first_message();
  std::string next_message();
  std::string user_message(const std::string& text, const char* key);

  // The user message of a turn, as the first one of a context and as a later one.
  struct TurnMessages {
    std::string first, next;
  };

  EpisodeRules rules_;
  std::unique_ptr<Environment> environment_;
  LateEnvironment* late_ = nullptr;  // null if it blocks
  Stage stage_ = Stage::responding;
  std::vector<std::string> chosen_;  // valid actions of the turn
  std::size_t next_action_ = 0;
  bool step_started_ = false;
  Episode episode_;
  std::deque<TurnMessages> messages_;  // of the last rollout.context_turns turns
  int executed_ = 0;
  int length_ = 0;  // tokens of the context
  int response_limit_ = 0;
  std::string first_state_;  // as the model reads it
  int omitted_tokens_ = 0;   // of the state in the last message
  bool environment_done_ = false;
  bool finished_ = false;
};

}  // namespace starpo
