#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace starpo {

// Fills the {placeholders} of a prompt template; "{{" and "}}" are literal braces. Errors: config_invalid for an
// unknown placeholder or an unclosed brace, with `path` in the message.
std::string fill_template(const std::string& text, const std::map<std::string, std::string>& values,
                          const std::string& path);

// Builds ChatML conversations as token ids. Control tokens are inserted by id and text is encoded without them, so text
// from an environment can't forge a turn.
class ChatFormat {
 public:
  // think: the generation prompt ends with <think>, else with <answer>. more_stop_ids: the model's stop ids
  // in addition to <|im_end|>. Errors: tokenizer_token_missing.
  ChatFormat(const Tokenizer&, bool think, const std::vector<std::int32_t>& more_stop_ids = {});

  // Returns the system message (if not empty), the first user message and the generation prompt.
  std::vector<std::int32_t> first_turn(const std::string& system, const std::string& user) const;
  // Returns the user message and the generation prompt. repair_turn_end: first adds the <|im_end|> that the response
  // lacks, because it was truncated or ended with another stop id.
  std::vector<std::int32_t> next_turn(const std::string& user, bool repair_turn_end) const;

  std::int32_t turn_end() const { return turn_end_; }
  // Ids that end a response; the first is <|im_end|>.
  const std::vector<std::int32_t>& stop_ids() const { return stop_ids_; }
  bool ends_response(std::int32_t id) const;
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
