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

// Most tokens of a turn's reply where a measurement wants lengths of its own; rollout.max_response_tokens stays the
// largest. Turns count from 0.
using ReplyLimit = std::function<int(const EpisodeSpec&, int turn)>;

// What all episodes of one environment share.
struct EpisodeRules {
  const EnvironmentConfig& environment;
  const RolloutConfig& rollout;
  const RewardConfig& reward;
  const Tokenizer& tokenizer;
  const ChatFormat& chat;
  ReplyLimit reply_limit = {};  // null: rollout.max_response_tokens
};

// One episode as a conversation (RAGEN, arXiv 2504.20073, section 3.1): ids in, ids out, turn by turn, whoever chooses
// them: the policy or a solver.
class EpisodePlayer {
 public:
  // Resets the environment to the spec's level. Errors: config_invalid (a template's placeholder).
  EpisodePlayer(const EpisodeRules&, std::unique_ptr<Environment>, const EpisodeSpec&);

  // The prompt: ids before the first choice. Errors: context_too_small (prompt and one reply don't fit).
  const std::vector<std::int32_t>& prompt() const { return episode_.turns.front().context_ids; }

  // Takes the next chosen id with its log-probability and entropy. Returns what follows it before the next choice: the
  // next turn's context at a turn's end, nothing within a turn or when the episode is over.
  std::vector<std::int32_t> accept(std::int32_t id, float logprob, float entropy);

  bool finished() const { return finished_; }
  int reply_tokens_left() const { return reply_limit_ - static_cast<int>(episode_.turns.back().ids.size()); }
  int length() const { return length_; }  // tokens of the conversation so far
  const Environment& environment() const { return *environment_; }
  Episode take() { return std::move(episode_); }

 private:
  void begin_turn(std::vector<std::int32_t> context_ids);
  void finish_turn();
  void execute(Turn&);
  std::optional<Ended> ending() const;
  std::string user_message(const std::string& text, const std::string& path) const;

  EpisodeRules rules_;
  std::unique_ptr<Environment> environment_;
  Episode episode_;
  int executed_ = 0;
  int length_ = 0;
  int reply_limit_ = 0;
  bool environment_done_ = false;
  bool finished_ = false;
};

}  // namespace starpo
