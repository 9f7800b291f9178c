#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace starpo {

// Fills {placeholders} of a prompt template; "{{" and "}}" stand for braces. Errors: config_invalid for an unknown
// placeholder or an open brace, naming `path`.
std::string fill_template(const std::string& text, const std::map<std::string, std::string>& values,
                          const std::string& path);

// Conversations as token ids, in ChatML. Control tokens are placed by id and text is encoded without them, so nothing
// an environment shows can forge a turn.
class ChatFormat {
 public:
  // think: the generation prompt ends with <think>, else with <answer>. more_stop_ids: those that end a reply as
  // <|im_end|> does, as the model was taught. Errors: tokenizer_token_missing.
  ChatFormat(const Tokenizer&, bool think, const std::vector<std::int32_t>& more_stop_ids = {});

  // System message (none if empty), first user message and generation prompt.
  std::vector<std::int32_t> first_turn(const std::string& system, const std::string& user) const;
  // Ends the previous reply where it doesn't end with <|im_end|> itself (the token limit cut it, or another stop id
  // ended it), then user message and generation prompt.
  std::vector<std::int32_t> next_turn(const std::string& user, bool repair_turn_end) const;

  std::int32_t turn_end() const { return turn_end_; }
  // Ids that end a reply, <|im_end|> first.
  const std::vector<std::int32_t>& stop_ids() const { return stop_ids_; }
  bool ends_reply(std::int32_t id) const;
  const std::string& forced_prefix() const { return forced_prefix_; }

 private:
  void append_message(std::vector<std::int32_t>&, const std::string& role, const std::string& content) const;
  void append_generation_prompt(std::vector<std::int32_t>&) const;

  const Tokenizer& tokenizer_;
  std::int32_t turn_start_, turn_end_;
  std::vector<std::int32_t> stop_ids_;
  std::vector<std::int32_t> newline_, generation_prompt_;
  std::string forced_prefix_;
};

}  // namespace starpo
