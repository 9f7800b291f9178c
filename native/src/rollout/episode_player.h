#pragma once

#include <cstdint>
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
// tokens, from the policy or a solver.
class EpisodePlayer {
 public:
  // Resets the environment to the spec's level. Errors: config_invalid (unknown placeholder in a template),
  // context_too_small (prompt and one response do not fit).
  EpisodePlayer(const EpisodeRules&, std::unique_ptr<Environment>, const EpisodeSpec&);

  // Returns the prompt ids.
  const std::vector<std::int32_t>& prompt() const { return episode_.turns.front().context_ids; }

  // Appends a chosen id with its log-probability and entropy. Returns the ids to append before the next choice: the
  // context of the next turn after the end of a turn; empty within a turn and at the end of the episode.
  std::vector<std::int32_t> accept(std::int32_t id, float logprob, float entropy);

  bool finished() const { return finished_; }
  int response_tokens_left() const { return response_limit_ - static_cast<int>(episode_.turns.back().ids.size()); }
  int length() const { return length_; }  // tokens in the conversation
  const Environment& environment() const { return *environment_; }
  const Episode& episode() const { return episode_; }  // so far
  Episode take() { return std::move(episode_); }

 private:
  void begin_turn(std::vector<std::int32_t> context_ids);
  void finish_turn();
  void execute(Turn&);
  std::optional<EndReason> end_reason() const;
  std::string user_message(const std::string& text, const std::string& path) const;

  EpisodeRules rules_;
  std::unique_ptr<Environment> environment_;
  Episode episode_;
  int executed_ = 0;
  int length_ = 0;
  int response_limit_ = 0;
  bool environment_done_ = false;
  bool finished_ = false;
};

}  // namespace starpo
